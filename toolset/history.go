package toolset

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/peerwords"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

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
		return "", errors.New("peer_id is required")
	}
	limit := max(1, min(cmp.Or(a.Limit, 20), mostAsked))
	query := platform.RowQuery{Peer: id, PeerInfo: true}
	if a.Before != "" {
		before, err := time.Parse(time.RFC3339, a.Before)
		if err != nil {
			return "", errors.New("before_ts must be a time such as 2026-01-31T12:00:00Z")
		}
		query.Before = before
	}
	rows, err := s.rowsAbout(ctx, query, limit)
	if err != nil {
		return "", err
	}
	all := s.exchange(rows, id)
	messages := make([]map[string]any, 0, limit)
	for _, m := range all[max(0, len(all)-limit):] {
		messages = append(messages, s.entry(m))
	}
	text, err := brief.Pretty(messages)
	for len(text) > mostText && len(messages) > 1 { // the newest matter most
		messages = messages[(len(messages)+7)/8:]
		text, err = brief.Pretty(messages)
	}
	return text, err
}

// mostAsked is how many rows the platform shows at once.
const mostAsked = 500

// rowsAbout are rows of the log from and for a peer. Older platforms know neither the
// filter nor the time: there the messages stand between rows of all kinds, so more of
// them are asked for.
func (s *Set) rowsAbout(ctx context.Context, q platform.RowQuery, messages int) ([]platform.Row, error) {
	q.Limit = min(2*messages, mostAsked) // a message may be told of by two rows
	rows, err := s.cfg.Platform.ActivityRows(ctx, q)
	if err != nil {
		return nil, err
	}
	others := func(r platform.Row) bool {
		return !strings.EqualFold(r.Source, q.Peer) && !strings.EqualFold(r.Target, q.Peer) ||
			!q.Before.IsZero() && !r.CreatedAt.Before(q.Before)
	}
	if slices.ContainsFunc(rows, others) && len(rows) >= q.Limit && q.Limit < mostAsked {
		q.Limit = mostAsked
		if more, err := s.cfg.Platform.ActivityRows(ctx, q); err == nil { // too much of it may be asked for
			rows = more
		}
	}
	return slices.DeleteFunc(rows, others), nil
}

// mostHistory is how many bytes of a message the history has.
const mostHistory = 4000

// entry is a message of the history, as a model reads it.
func (s *Set) entry(m said) map[string]any {
	from, text := "you", brief.Cleared(m.text, 2*mostHistory, s.cfg.Redact)
	if m.peer {
		from, text = "peer", wrapped(text, mostHistory)
	} else {
		text = clip(peerwords.Clean(text), mostHistory)
	}
	entry := map[string]any{
		"activity_id": m.row.ID, "from": from, "method": methodOf(m.row),
		"created_at": m.at.UTC().Format(time.RFC3339),
		"text":       text,
	}
	if m.row.Status == "error" || m.row.Status == "failed" {
		entry["error"] = wrapLine(s.cfg.Redact(cmp.Or(m.row.ErrorDetail, m.row.Status)))
	}
	return entry
}

// methodOf is the method of a row. The platform takes it from the message: any that is not
// one of its own, or of A2A, is the sender's word.
func methodOf(row platform.Row) string {
	switch row.Method {
	case "", "message/send", "message/stream", "SendMessage", "SendStreamingMessage", "delegate", "delegate_result", "notify":
		return row.Method
	}
	return wrapLine(row.Method)
}
