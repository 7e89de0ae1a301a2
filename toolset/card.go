package toolset

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

type card struct {
	Card map[string]any `json:"card" jsonschema:"the card: a JSON object with at least a name. What it leaves out stays as it is"`
}

// isRuntimes reports whether a reader may take a member of a card for one that says where
// and how the agent is reached. Those are the runtime's: the platform sends requests with
// its secrets there, and finds no transcript where they are missing. Readers in Go take
// "URL" for "url", and "ſecurity" for "security".
func isRuntimes(name string) bool {
	return slices.ContainsFunc([]string{
		"url", "preferredTransport", "additionalInterfaces", "supportedInterfaces", "protocolVersion", "protocolVersions",
		"capabilities", "security", "securitySchemes", "securityRequirements", "supportsAuthenticatedExtendedCard", "signatures",
	}, func(one string) bool { return strings.EqualFold(one, name) })
}

// updateCard is update_agent_card.
func (s *Set) updateCard(ctx context.Context, a card) (string, error) {
	if err := s.granted(actRemember); err != nil {
		return "", err
	}
	if name, _ := a.Card["name"].(string); strings.TrimSpace(name) == "" {
		return "", errors.New("card must be an object with a name")
	}
	next, err := s.currentCard(ctx)
	if err != nil {
		return "", err
	}
	var kept []string
	for name, value := range clean(a.Card, s.cfg.Redact).(map[string]any) {
		switch {
		case isRuntimes(name):
			kept = append(kept, name)
		case value != nil: // of what has none the platform's readers expect another form
			next[name] = value
		}
	}
	if err := s.cfg.Platform.UpdateCard(ctx, next); err != nil {
		return "", err
	}
	answer := map[string]any{"success": true, "status": "updated"}
	if len(kept) > 0 {
		slices.Sort(kept)
		answer["note"] = "These are the runtime's to say, and stay as they are: " + strings.Join(kept, ", ")
	}
	return pretty(answer)
}

// currentCard is the card that there is: as the runtime has it or, where that is another
// process, the platform.
func (s *Set) currentCard(ctx context.Context) (map[string]any, error) {
	var raw []byte
	if s.cfg.Card != nil {
		var err error
		if raw, err = json.Marshal(s.cfg.Card()); err != nil {
			return nil, err
		}
	} else {
		info, err := s.cfg.Platform.Workspace(ctx)
		if err != nil {
			return nil, err
		}
		var of struct {
			Card json.RawMessage `json:"agent_card"`
		}
		_ = json.Unmarshal(info.Raw, &of) // a platform that does not show it has none for us
		raw = of.Card
	}
	var current map[string]any
	_ = json.Unmarshal(raw, &current)
	if current == nil {
		current = map[string]any{}
	}
	return current, nil
}
