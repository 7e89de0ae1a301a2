package adapter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// UnionCard returns the card in the form that clients of A2A 1.0 and of 0.3
// both read. It is the SDK's, with one repair: for a card with a security
// scheme the SDK (v2.4.0) writes the 1.0 form of the scheme under a name that
// its own 1.0 client does not know, and the client refuses the whole card.
func UnionCard(ctx context.Context, card *a2a.AgentCard) (json.RawMessage, error) {
	producer, ok := a2av0.NewStaticAgentCardProducer(card).(a2asrv.AgentCardJSONProducer)
	if !ok {
		return nil, errors.New("union card: the SDK's producer gives no JSON")
	}
	text, err := producer.CardJSON(ctx)
	if err != nil {
		return nil, fmt.Errorf("union card: %w", err)
	}
	if len(card.SecuritySchemes) == 0 {
		return text, nil
	}
	return repairSchemes(text)
}

// repairSchemes renames the member of each bearer scheme that holds its 1.0
// form. The members of the 0.3 form stay beside it.
func repairSchemes(text []byte) (json.RawMessage, error) {
	var card map[string]json.RawMessage
	var schemes map[string]map[string]json.RawMessage
	if err := json.Unmarshal(text, &card); err != nil {
		return nil, fmt.Errorf("union card: %w", err)
	}
	if err := json.Unmarshal(card["securitySchemes"], &schemes); err != nil {
		return nil, fmt.Errorf("union card: security schemes: %w", err)
	}
	for _, scheme := range schemes {
		if inner, ok := scheme["http"]; ok {
			delete(scheme, "http")
			scheme["httpAuthSecurityScheme"] = inner
		}
	}
	repaired, err := json.Marshal(schemes)
	if err != nil {
		return nil, fmt.Errorf("union card: security schemes: %w", err)
	}
	card["securitySchemes"] = repaired
	return json.Marshal(card)
}
