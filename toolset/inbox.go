package toolset

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

type wait struct {
	Timeout float64 `json:"timeout_secs,omitempty" jsonschema:"how long to wait; 60 if left out, at most 300"`
}

type peek struct {
	Limit int `json:"limit,omitempty" jsonschema:"how many; 10 if left out"`
}

type pop struct {
	ID string `json:"activity_id" jsonschema:"the id of the message"`
}

// pushed is said where messages come as turns of their own, so that there is nothing
// to wait for.
const pushed = "This workspace gets its messages by itself: each comes as a turn of its own, and a new one of the user may come into this turn. " +
	"There is no inbox to look into. Finish your turn, and answer when a message comes."

func (s *Set) waitForMessage(context.Context, wait) (string, error) { return pushed, nil }

func (s *Set) inboxPeek(context.Context, peek) (string, error) { return pushed, nil }

func (s *Set) inboxPop(_ context.Context, a pop) (string, error) {
	return pretty(map[string]any{"removed": false, "activity_id": a.ID, "note": pushed})
}

type history struct {
	Peer   string `json:"peer_id" jsonschema:"the id of the peer, as list_peers has it"`
	Limit  int    `json:"limit,omitempty" jsonschema:"how many messages; 20 if left out, at most 500"`
	Before string `json:"before_ts,omitempty" jsonschema:"only messages before this time, as in 2026-01-31T12:00:00Z"`
	own
}

// chatHistory is chat_history.
func (s *Set) chatHistory(ctx context.Context, a history) (string, error) {
	if err := s.ours(a.Source); err != nil {
		return "", err
	}
	id := strings.TrimSpace(a.Peer)
	if id == "" {
		return "", fmt.Errorf("peer_id is required")
	}
	limit := max(1, min(cmp.Or(a.Limit, 20), 500))
	query := platform.RowQuery{Peer: id, Limit: limit, PeerInfo: true}
	if a.Before != "" {
		before, err := time.Parse(time.RFC3339, a.Before)
		if err != nil {
			return "", fmt.Errorf("before_ts must be a time such as 2026-01-31T12:00:00Z")
		}
		query.Before = before
	}
	rows, err := s.cfg.Platform.ActivityRows(ctx, query)
	if err != nil {
		return "", err
	}
	messages := make([]map[string]any, 0, len(rows))
	for _, row := range rows { // older platforms know neither the filter nor the time
		if row.Source != id && row.Target != id || !query.Before.IsZero() && !row.CreatedAt.Before(query.Before) {
			continue
		}
		messages = append(messages, s.entry(row, id))
	}
	if len(messages) > limit {
		messages = messages[len(messages)-limit:]
	}
	text, err := pretty(messages)
	for len(text) > mostText && len(messages) > 1 { // the newest matter most
		messages = messages[(len(messages)+7)/8:]
		text, err = pretty(messages)
	}
	return text, err
}

// mostHistory is how many bytes of a message the history has.
const mostHistory = 4000

// entry is a row of the history, as a model reads it.
func (s *Set) entry(row platform.Row, peer string) map[string]any {
	from, text := "you", s.cfg.Redact(clip(textOf(row), 2*mostHistory))
	if row.Source == peer {
		from, text = "peer", wrapped(text, mostHistory)
	} else {
		text = clip(sanitize(text), mostHistory)
	}
	entry := map[string]any{
		"activity_id": row.ID, "from": from, "method": row.Method,
		"created_at": row.CreatedAt.UTC().Format(time.RFC3339),
		"text":       text,
	}
	if row.Status == "error" {
		entry["error"] = oneLine(s.cfg.Redact(cmp.Or(row.ErrorDetail, row.Status)))
	}
	return entry
}

// textOf is what a row's message says.
func textOf(row platform.Row) string {
	type part struct {
		Kind, Type, Text string
	}
	var body struct {
		Params struct {
			Message struct{ Parts []part }
			Parts   []part
		}
		Parts []part
	}
	_ = json.Unmarshal(row.RequestBody, &body) // a body of another shape has no text
	for _, parts := range [][]part{body.Params.Message.Parts, body.Params.Parts, body.Parts} {
		var text strings.Builder
		for _, p := range parts {
			if cmp.Or(p.Kind, p.Type, "text") == "text" {
				text.WriteString(p.Text)
			}
		}
		if text.Len() > 0 {
			return text.String()
		}
	}
	return cmp.Or(row.Summary, "(empty A2A message)")
}
