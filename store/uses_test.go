package store

import (
	"testing"
	"time"
)

// TestUseIsWrittenSeldom: what changes is written at once, that a conversation is still
// in use now and then, and one that was forgotten is there again.
func TestUseIsWrittenSeldom(t *testing.T) {
	clock := newClock()
	s := open(t, Config{Now: clock.Now})
	ctx, n := t.Context(), 0
	turn := func(thread string) {
		t.Helper()
		n++
		m, head := message(n, "task")
		m.Conversation, head.Conversation = "c", "c"
		must(t, s.Accept(ctx, m, head))
		must(t, s.Begin(ctx, m.Job, 1, "c", thread, "", ""))
		must(t, s.Write(ctx, Change{Task: "task", Ended: []string{m.Job}}))
	}
	turn("one")
	first := clock.Now()
	clock.advance(time.Second)
	turn("two")
	got, err := s.Thread(ctx, "c")
	must(t, err)
	equal(t, got, "two")
	clock.advance(2 * useGrain)
	turn("two")
	_, ended := message(1, "task")
	ended.Ended = true
	must(t, s.Write(ctx, Change{Task: "task", Head: &ended}))
	wantErr(t, s.ForgetConversation(ctx, "c", first), ErrInUse)
	wantErr(t, s.ForgetConversation(ctx, "c", first.Add(time.Second)), ErrInUse)
	must(t, s.ForgetConversation(ctx, "c", clock.Now()))
	m, head := message(9, "another")
	must(t, s.Accept(ctx, m, head))
	must(t, s.Begin(ctx, m.Job, 1, "c", "two", "", ""))
	got, err = s.Thread(ctx, "c")
	must(t, err)
	equal(t, got, "two")
}
