package store

import (
	"testing"
	"time"
)

func TestOutbox(t *testing.T) {
	clock := newClock()
	start := clock.Now().UTC()
	s := open(t, Config{Now: clock.Now})
	ctx := t.Context()
	accept(t, s, 1, "task")
	waiting := func(after int64, limit int) []Delivery {
		t.Helper()
		all, err := s.Deliveries(ctx, "push", after, limit)
		must(t, err)
		return all
	}
	equal(t, waiting(0, 10), nil)
	later := start.Add(time.Minute)
	must(t, s.Write(ctx, Change{Task: "task", Outbox: []Delivery{
		{Kind: "push", Target: "later", Body: []byte("1"), Due: later}, {Kind: "push", Target: "now", Body: []byte("2")},
	}}))
	must(t, s.Write(ctx, Change{Outbox: []Delivery{{Kind: "notify", Target: "another-kind"}, {Kind: "push", Target: "of-none"}}}))
	want := []Delivery{
		{ID: 1, Kind: "push", Task: "task", Conversation: "conversation", Target: "later", Size: 1, Due: later, Created: start},
		{ID: 2, Kind: "push", Task: "task", Conversation: "conversation", Target: "now", Size: 1, Due: start, Created: start},
		{ID: 4, Kind: "push", Target: "of-none", Due: start, Created: start},
	}
	equal(t, waiting(0, 10), want)
	equal(t, waiting(0, 1), want[:1])
	equal(t, waiting(1, 10), want[1:])
	whole, err := s.Delivery(ctx, 2)
	must(t, err)
	want[1].Body = []byte("2")
	equal(t, whole, want[1])

	must(t, s.FinishDelivery(ctx, 2))
	must(t, s.PutOffDelivery(ctx, 1, later.Add(time.Minute)))
	want[0].Tries, want[0].Due = 1, later.Add(time.Minute)
	equal(t, waiting(0, 10), []Delivery{want[0], want[2]})
	must(t, s.GiveUpDelivery(ctx, 1))
	must(t, s.GiveUpDelivery(ctx, 4))
	equal(t, waiting(0, 10), nil)
	bytes, err := view(ctx, s, "weigh", func(c *conn) (int64, error) {
		return c.number("SELECT coalesce(sum(length(body)), 0) FROM outbox WHERE dead = 1")
	})
	must(t, err)
	equal(t, bytes, int64(0))
	for _, id := range []int64{1, 2, 99} {
		_, err := s.Delivery(ctx, id)
		wantErr(t, err, ErrUnknown)
	}
	must(t, s.FinishDelivery(ctx, 3))

	clock.advance(7 * 24 * time.Hour)
	must(t, s.Sweep(ctx))
	equal(t, rows(t, s, "outbox"), map[string]int64{"outbox": 2})
	clock.advance(1)
	must(t, s.Sweep(ctx))
	equal(t, rows(t, s, "outbox"), map[string]int64{"outbox": 0})
}

// A setting that comes with a message is there as soon as the message is, and
// goes when the task is taken back.
func TestPushWithMessage(t *testing.T) {
	s := open(t, Config{})
	ctx := t.Context()
	m, head := message(1, "task")
	m.Push = &Push{"p", []byte("1")}
	must(t, s.Accept(ctx, m, head))
	wantErr(t, s.Accept(ctx, m, head), ErrExists)
	got, err := s.Pushes(ctx, "task")
	must(t, err)
	equal(t, got, []Push{{"p", []byte("1")}})
	must(t, s.Withdraw(ctx, m.Job, nil))
	_, err = s.Pushes(ctx, "task")
	wantErr(t, err, ErrUnknown)
}

func TestPush(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	ctx := t.Context()
	accept(t, s, 1, "task")
	accept(t, s, 2, "other")
	for _, p := range []Push{{"b", []byte("1")}, {"a", []byte("2")}, {"b", []byte("3")}, {"c", nil}} {
		must(t, s.SetPush(ctx, "task", p))
	}
	must(t, s.DropPush(ctx, "task", "c"))
	closeStore(t, s)
	s = open(t, Config{Dir: dir})
	got, err := s.Pushes(ctx, "task")
	must(t, err)
	equal(t, got, []Push{{"a", []byte("2")}, {"b", []byte("3")}})
	got, err = s.Pushes(ctx, "other")
	must(t, err)
	equal(t, got, nil)
}

func TestConversations(t *testing.T) {
	clock := newClock()
	s := open(t, Config{Now: clock.Now})
	ctx := t.Context()
	start := clock.Now().UTC()
	for i, task := range []string{"ends", "asks", "waits"} {
		m, head := message(i, task)
		m.Conversation, head.Conversation = task, task
		must(t, s.Accept(ctx, m, head))
		must(t, s.Begin(ctx, m.Job, 1, task, "thread-"+task, "", ""))
		clock.advance(time.Second)
	}
	_, ends := message(0, "ends")
	ends.Ended = true
	must(t, s.Write(ctx, Change{Head: &ends, Ended: []string{"job-0"}}))
	must(t, s.Write(ctx, Change{Task: "asks", Ended: []string{"job-1"}}))
	must(t, s.Begin(ctx, "job-2", 2, "waits", "thread-new", "", ""))
	now := clock.Now()

	idle, err := s.IdleConversations(ctx, now, 10)
	must(t, err)
	equal(t, idle, []UsedConversation{{"ends", "thread-ends", start}})
	idle, err = s.IdleConversations(ctx, start, 10)
	must(t, err)
	equal(t, idle, nil)

	leftovers := func() []string {
		t.Helper()
		all, err := s.LeftoverThreads(ctx, 10)
		must(t, err)
		return all
	}
	equal(t, leftovers(), nil) // the message of the old thread still waits
	var whenever time.Time
	wantErr(t, s.ForgetConversation(ctx, "waits", whenever), ErrInUse)
	wantErr(t, s.ForgetConversation(ctx, "asks", whenever), ErrInUse)
	wantErr(t, s.ForgetConversation(ctx, "ends", start.Add(-time.Second)), ErrInUse)
	wantErr(t, s.ForgetConversation(ctx, "ends", start.Add(time.Second)), ErrInUse)
	must(t, s.ForgetConversation(ctx, "ends", start))
	equal(t, leftovers(), []string{"thread-ends"})
	must(t, s.Write(ctx, Change{Ended: []string{"job-2"}}))
	equal(t, leftovers(), []string{"thread-ends"}) // the new one may be a fork of the other

	threads, err := s.Threads(ctx)
	must(t, err)
	equal(t, threads, []string{"thread-ends", "thread-asks", "thread-waits", "thread-new"})
	must(t, s.DropThreads(ctx, "thread-ends", "thread-waits", "thread-new"))
	threads, err = s.Threads(ctx)
	must(t, err)
	equal(t, threads, []string{"thread-asks", "thread-new"})
}

func TestSizes(t *testing.T) {
	s := open(t, Config{})
	ctx := t.Context()
	run(t, s, 1)
	accept(t, s, 2, "waits")
	sizes, err := s.Sizes(ctx)
	must(t, err)
	if sizes.Database == 0 || sizes.Log == 0 {
		t.Errorf("sizes are %+v", sizes)
	}
	sizes.Database, sizes.Log = 0, 0
	equal(t, sizes, Sizes{Tasks: 2, Events: 1, Waiting: 1, Outbox: 1})
}

// TestDeliveryThatStays is found by where it has gone, also when it was given up.
func TestDeliveryThatStays(t *testing.T) {
	s := open(t, Config{})
	ctx := t.Context()
	accept(t, s, 1, "task")
	must(t, s.Write(ctx, Change{Task: "task", Ask: []Question{{ID: "q1"}}, Outbox: []Delivery{{Kind: "request", Body: []byte("1")}, {Kind: "push", Target: "there"}}}))
	_, err := s.SentTo(ctx, "request", "there")
	wantErr(t, err, ErrUnknown)
	_, err = s.SentTo(ctx, "request", "") // where it has not gone yet is nowhere
	wantErr(t, err, ErrUnknown)
	must(t, s.AimDelivery(ctx, 1, "")) // which is no try
	must(t, s.AimDelivery(ctx, 1, "there"))
	for range 2 {
		d, err := s.SentTo(ctx, "request", "there")
		must(t, err)
		equal(t, []any{d.ID, d.Task, d.Tries, d.Target, len(d.Body)}, []any{int64(1), "task", 1, "there", 0})
		must(t, s.GiveUpDelivery(ctx, 1))
	}
	for task, want := range map[string]bool{"task": true, "another": false} {
		asked, err := s.Asked(ctx, task, "q1")
		must(t, err)
		equal(t, asked, want)
	}
	must(t, s.Write(ctx, Change{Task: "task", Drop: []string{"q1"}}))
	asked, err := s.Asked(ctx, "task", "q1")
	must(t, err)
	equal(t, asked, false)
}
