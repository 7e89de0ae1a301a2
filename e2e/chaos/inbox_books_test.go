package chaos

import (
	"encoding/json"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// kept compares the channel's own books with the platform's and the model's. A message
// that the model was asked about twice has had two attempts: the first was cut off.
func (r *inboxRun) kept() {
	ctx := r.t.Context()
	s, err := store.Open(ctx, store.Config{Dir: r.program.State, Reserve: -1})
	if err != nil {
		r.t.Error(err)
		return
	}
	defer s.Close()
	if err := s.Check(ctx); err != nil {
		r.t.Error(err)
	}
	if waiting, err := s.RepliesWaiting(ctx); err != nil || waiting != 0 {
		r.t.Errorf("%d replies wait, %v", waiting, err)
	}
	if dead, err := s.DeadLetters(ctx, 10); err != nil || len(dead) != 0 {
		r.t.Errorf("dead letters: %v, %v", dead, err)
	}
	for _, space := range r.spaces {
		if open, err := s.InboxUnfinished(ctx, space.ID()); err != nil || open != 0 {
			r.t.Errorf("%d rows are not finished, %v", open, err)
		}
		for _, row := range space.Rows() {
			var body struct {
				Params struct {
					Message struct{ MessageID string }
				}
			}
			_ = json.Unmarshal(row.RequestBody, &body)
			id := body.Params.Message.MessageID
			if known, err := s.InboxHas(ctx, space.ID(), row.ID); err != nil || !known {
				r.t.Errorf("row %s (%s) is not in the books, %v", row.ID, id, err)
			}
			if id == "" || row.Method != "message/send" {
				continue
			}
			chat := "canvas:" + space.ID()
			if row.Source != "" {
				chat = "peer:" + row.Source + "@" + space.ID()
			}
			m, err := s.Message(ctx, store.Key{Context: chat, Message: row.ID})
			if err != nil || !m.Ended {
				r.t.Errorf("message %s of %s: %v, ended %t", id, chat, err, m.Ended)
			}
			if n := r.asked[id]; n > max(m.Attempt, 1) {
				r.t.Errorf("the model was asked %d times about %s, which has had %d attempts", n, id, m.Attempt)
			}
		}
	}
}
