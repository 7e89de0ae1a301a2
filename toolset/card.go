package toolset

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

type card struct {
	Card map[string]any `json:"card" jsonschema:"the card: a JSON object with at least a name. What it leaves out stays as it is"`
}

// members are those of a part of the card that the agent may write, by their names in A2A.
// One with members of its own is an object, or a list of such; the others are texts and
// lists of them. Everything else of the card is the runtime's: where and how the agent is
// reached, which the platform sends requests with its secrets by.
type members map[string]members

var cardMembers = members{ //nolint:gochecknoglobals // a constant
	"name": nil, "description": nil, "role": nil, "version": nil, "iconUrl": nil, "documentationUrl": nil,
	"defaultInputModes": nil, "defaultOutputModes": nil,
	"provider": {"organization": nil, "url": nil},
	"skills": {
		"id": nil, "name": nil, "description": nil, "tags": nil, "examples": nil, "inputModes": nil, "outputModes": nil,
	},
}

// of is the name in A2A of the member that a reader may take a name for: readers in Python
// know "icon_url" for "iconUrl", and those in Go "ICONURL".
func (m members) of(name string) (string, bool) {
	bare := strings.NewReplacer("_", "", "-", "").Replace(name)
	for own := range m {
		if strings.EqualFold(own, bare) {
			return own, true
		}
	}
	return "", false
}

// filter is what an object has of the members, by their own names. The rest is named in
// others, with path in front. Of several spellings the member's own counts.
func (m members) filter(object map[string]any, path string, others *[]string) map[string]any {
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		own, known := m.of(name)
		if !known {
			*others = append(*others, path+name)
			continue
		}
		if _, both := object[own]; both && own != name {
			continue
		}
		value, fits := m[own].value(object[name], path+own, others)
		switch {
		case !fits:
			*others = append(*others, path+name)
		case value != nil: // of what has none the platform's readers expect another form
			out[own] = value
		}
	}
	return out
}

// value is what a member may hold of what was given for it.
func (m members) value(given any, path string, others *[]string) (any, bool) {
	switch given := given.(type) {
	case nil:
		return nil, true
	case map[string]any:
		if m == nil {
			return nil, false
		}
		return m.filter(given, path+".", others), true
	case []any:
		out := make([]any, 0, len(given))
		for _, one := range given {
			if _, list := one.([]any); list {
				return nil, false
			}
			value, fits := m.value(one, path, others)
			if !fits {
				return nil, false
			}
			if value != nil {
				out = append(out, value)
			}
		}
		return out, true
	}
	return given, true
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
	written, _ := clean(a.Card, s.cfg.Redact).(map[string]any)
	maps.Copy(next, cardMembers.filter(written, "", &kept))
	if err := s.cfg.Platform.UpdateCard(ctx, next); err != nil {
		return "", err
	}
	answer := map[string]any{"success": true, "status": "updated"}
	if len(kept) > 0 {
		slices.Sort(kept)
		kept = slices.Compact(kept)
		answer["note"] = "These are the runtime's to say, and stay as they are: " + strings.Join(kept, ", ")
	}
	return brief.Pretty(answer)
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
