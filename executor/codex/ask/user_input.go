package ask

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// readUserInput reads item/tool/requestUserInput: what the model wants to know.
func readUserInput(params json.RawMessage) (subject, error) {
	body, err := decode[struct {
		Questions []struct {
			ID       string `json:"id"`
			Header   string `json:"header"`
			Question string `json:"question"`
			IsOther  bool   `json:"isOther"`
			IsSecret bool   `json:"isSecret"`
			Options  []struct {
				Label       string `json:"label"`
				Description string `json:"description"`
			} `json:"options"`
		} `json:"questions"`
	}](params)
	if err == nil && len(body.Questions) == 0 {
		err = errors.New("it asks nothing")
	}
	if err != nil {
		return nil, err
	}
	f := form{values: inputValues, encode: encodeInput, decided: declineInput, refusal: inputAnswers(nil)}
	var shown []any
	for _, q := range body.Questions {
		asked := field{id: q.ID, label: q.Question, other: q.IsOther, required: true}
		var options []any
		for _, o := range q.Options {
			asked.options = append(asked.options, option{o.Label, o.Description, o.Label})
			options = append(options, map[string]any{"label": o.Label, "description": o.Description})
		}
		f.fields = append(f.fields, asked)
		one := map[string]any{"id": q.ID, "header": q.Header, "question": q.Question, "other": q.IsOther, "secret": q.IsSecret}
		if len(options) > 0 {
			one["options"] = options
		}
		shown = append(shown, one)
	}
	f.show = func(d *draft) Posed {
		text := d.shown(inLines(d, "codex asks: ", f.fields))
		if len(f.fields) > 1 {
			text = "codex asks:\n\n" + text
		}
		return Posed{
			kind: "input", data: map[string]any{"questions": d.value(shown), "choices": []any{agent.Decline}},
			large:   len(params) > mostShown,
			text:    text,
			accepts: howToFill(f.fields) + ".",
		}
	}
	return f, nil
}

// inputValues finds the answers in data: a text, a list of texts, or codex's own
// shape of an answer.
func inputValues(data map[string]any) map[string]any {
	answers, _ := data["answers"].(map[string]any)
	return answers
}

func encodeInput(values map[string]any) (any, error) {
	answers := map[string]any{}
	for id, value := range values {
		if object, ok := value.(map[string]any); ok {
			value = object["answers"]
		}
		texts, err := textsOf(value)
		if err != nil {
			return nil, err
		}
		answers[id] = map[string]any{"answers": texts}
	}
	return inputAnswers(answers), nil
}

func textsOf(value any) ([]string, error) {
	switch value := value.(type) {
	case string:
		return []string{value}, nil
	case float64, bool:
		return []string{fmt.Sprint(value)}, nil
	case []any:
		texts := make([]string, 0, len(value))
		for _, one := range value {
			text, ok := one.(string)
			if !ok {
				return nil, agent.NotUnderstood("An answer must be a text, or a list of texts.")
			}
			texts = append(texts, text)
		}
		return texts, nil
	}
	return nil, agent.NotUnderstood("An answer must be a text, or a list of texts.")
}

// declineInput leaves the questions unanswered.
func declineInput(decision string) (any, bool) {
	return inputAnswers(nil), decision == agent.Decline
}

func inputAnswers(answers map[string]any) map[string]any {
	if answers == nil {
		answers = map[string]any{}
	}
	return map[string]any{"answers": answers}
}
