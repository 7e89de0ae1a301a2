package store

import (
	"testing"
	"time"
)

// TestClockPutBack: what was put off while the clock went ahead does not wait until it is that late.
func TestClockPutBack(t *testing.T) {
	clock := newClock()
	s := open(t, Config{Now: clock.Now})
	ctx := t.Context()
	clock.advance(6 * time.Hour)
	soon := clock.Now().Add(time.Minute)

	endWith(t, s, "task", Notice{Target: "local", Status: NoticePending, Due: soon})
	accept(t, s, 1, "other")
	must(t, s.Write(ctx, Change{Task: "other", Outbox: []Delivery{{Kind: "push", Target: "there"}}}))
	must(t, s.PutOffDelivery(ctx, 1, soon))
	_, err := s.AcceptInbox(ctx, InboxPage{Workspace: "w", Cursor: "a", Rows: []InboxRow{{Activity: "a", Chat: "c", Body: []byte("{}"), State: InboxAccepted}}})
	must(t, err)
	_, err = s.AnswerInbox(ctx, 1, InboxReply{ID: "reply", Workspace: "w", Chat: "c", Final: true})
	must(t, err)
	must(t, s.PutOffReply(ctx, "reply", soon, "HTTP 503", false))

	wantDue := func(want time.Time) {
		t.Helper()
		notices, err := toSend(s)
		must(t, err)
		deliveries, err := s.Deliveries(ctx, "push", 0, 10)
		must(t, err)
		replies, err := s.FirstReplies(ctx, 10)
		must(t, err)
		if len(notices) != 1 || len(deliveries) != 1 || len(replies) != 1 {
			t.Fatalf("%+v %+v %+v", notices, deliveries, replies)
		}
		for of, due := range map[string]time.Time{"notice": notices[0].Due, "delivery": deliveries[0].Due, "reply": replies[0].Due} {
			if !due.Equal(want) {
				t.Errorf("the %s is due at %v, want %v", of, due, want)
			}
		}
	}
	wantDue(soon)
	clock.advance(-6 * time.Hour)
	wantDue(clock.Now())
}
