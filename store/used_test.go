package store

import (
	"testing"
	"time"
)

func TestUsedLast(t *testing.T) {
	clock := newClock()
	s := open(t, Config{Now: clock.Now})
	ctx := t.Context()
	at := map[string]time.Time{}
	for i, task := range []string{"old", "new"} {
		m, head := message(i, task)
		m.Conversation, head.Conversation = task, task
		must(t, s.Accept(ctx, m, head))
		at[task] = clock.Now().UTC()
		must(t, s.Begin(ctx, m.Job, 1, task, "thread-"+task, "", ""))
		clock.advance(time.Second)
	}
	all, err := s.LatestConversations(ctx, 10)
	must(t, err)
	for i := range all {
		all[i].Used = all[i].Used.UTC()
	}
	equal(t, all, []UsedConversation{{"new", "thread-new", at["new"]}, {"old", "thread-old", at["old"]}})
	one, err := s.LatestConversations(ctx, 1)
	must(t, err)
	equal(t, one, all[:1])
}
