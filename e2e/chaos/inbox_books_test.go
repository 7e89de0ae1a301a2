package chaos

import (
	"encoding/json"
	"strings"
	"time"

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
	if waiting, err := s.CountDueReplies(ctx); err != nil || waiting != 0 {
		r.t.Errorf("%d replies wait, %v", waiting, err)
	}
	if dead, err := s.DeadLetters(ctx, 10); err != nil || len(dead) != 0 {
		r.t.Errorf("dead letters: %v, %v", dead, err)
	}
	for _, space := range r.spaces {
		if open, err := s.InboxUnfinished(ctx, space.ID()); err != nil || open != 0 {
			r.t.Errorf("%d rows are not finished, %v", open, err)
		}
		for _, row := range space.Inbox() {
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
			chat, caller := "canvas:"+space.ID(), ""
			if row.Source != "" {
				caller = "peer:" + row.Source
				chat = caller + "@" + space.ID()
			}
			m, err := s.Message(ctx, store.Key{Caller: caller, Context: chat, Message: row.ID})
			if err != nil || !m.Ended {
				r.t.Errorf("message %s of %s: %v, ended %t", id, chat, err, m.Ended)
			}
			if n := r.asked[id]; n > max(m.Attempt, 1) {
				r.t.Errorf("the model was asked %d times about %s, which has had %d attempts", n, id, m.Attempt)
			}
		}
	}
}

// replies are what the users and the peers have got, by chat.
func (r *inboxRun) replies() map[string][]string {
	out := map[string][]string{}
	for _, s := range r.spaces {
		for _, n := range s.Notices() {
			out[s.ID()+" canvas"] = append(out[s.ID()+" canvas"], n.Message)
		}
	}
	for _, p := range r.peers {
		for _, row := range p.Rows() {
			var body struct {
				Params struct {
					Message struct{ Parts []struct{ Text string } }
				}
			}
			if json.Unmarshal(row.RequestBody, &body) == nil && len(body.Params.Message.Parts) == 1 {
				out[row.Source+" "+p.ID()] = append(out[row.Source+" "+p.ID()], body.Params.Message.Parts[0].Text)
			}
		}
	}
	return out
}

func (r *inboxRun) answered() (n int) {
	for _, all := range r.replies() {
		n += len(all)
	}
	return n
}

// settle waits until everything is answered and acknowledged.
func (r *inboxRun) settle() {
	last := -1
	for deadline := time.Now().Add(restless); ; time.Sleep(50 * time.Millisecond) {
		n := r.answered()
		if n != last {
			last, deadline = n, time.Now().Add(restless)
		}
		done := n >= *messagesFlag
		for _, s := range r.spaces {
			rows := s.Inbox()
			done = done && len(rows) > 0 && s.Acked() == rows[len(rows)-1].Seq
		}
		if done {
			return
		}
		if time.Now().After(deadline) {
			r.t.Errorf("%d of %d messages are answered, and nothing happens", n, *messagesFlag)
			return
		}
	}
}

// compare compares what was sent, what was answered, and what the channel has kept.
func (r *inboxRun) compare() {
	cut, again := 0, 0
	replies := r.replies()
	for chat, sent := range r.chats {
		got := replies[chat]
		if len(got) != len(sent) {
			r.t.Errorf("chat %s: %d messages, %d replies:\n%q\n%q", chat, len(sent), len(got), sent, got)
			continue
		}
		for i, id := range sent {
			switch {
			case got[i] == "answer to "+id:
			case strings.HasPrefix(got[i], "[codex "):
				cut++
			default:
				r.t.Errorf("chat %s: message %s was answered %q", chat, id, got[i])
			}
		}
		delete(replies, chat)
	}
	for chat, all := range replies {
		r.t.Errorf("chat %s: nobody has asked for %q", chat, all)
	}
	for id, n := range r.asked {
		if n > 1 {
			again++
		}
		if id == "" {
			r.t.Errorf("the model was asked %d times about nothing", n)
		}
	}
	r.kept()
	r.t.Logf("asked about more than once, after a turn that was cut off: %d; told that their turn was cut off: %d", again, cut)
	kills := r.kills["channel"] + r.kills["codex"] + r.kills["platform and channel"]
	if cut > kills+6 { // one can cut off turns of several chats for the second time; most do none
		r.t.Errorf("%d turns were given up", cut)
	}
}
