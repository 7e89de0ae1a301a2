package codex

import (
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
)

// TestClock counts what passes while it runs, and nothing while it rests.
func TestClock(t *testing.T) {
	t.Parallel()
	at := time.Unix(0, 0)
	c := clock{on: true, left: 10 * time.Second}
	for i, want := range []time.Duration{10 * time.Second, 7 * time.Second, 4 * time.Second, time.Second, time.Millisecond} {
		left, wound := c.wind(at)
		if left != want || !wound {
			t.Errorf("round %d: %s left (%v), want %s", i, left, wound, want)
		}
		if _, again := c.wind(at); again {
			t.Error("a running clock was wound")
		}
		at = at.Add(3 * time.Second)
		c.rest(at)
		c.rest(at.Add(time.Hour))
		at = at.Add(time.Minute)
	}
	if _, wound := (&clock{}).wind(at); wound {
		t.Error("a turn without a limit has one")
	}
}

// TestClosedInquiry takes no question that comes too late for its turn.
func TestClosedInquiry(t *testing.T) {
	t.Parallel()
	e := New(Config{})
	j := executor.Order{Attempt: executor.Attempt{Job: "j1"}}
	in := e.openInquiry("thread", j, func() {})
	e.followAgent(appserver.Notification{Method: appserver.NoteTurnStarted, Params: []byte(`{"threadId":"sub","turn":{"id":"s","rootTurnId":"turn","items":[],"status":"inProgress"}}`)})
	in.begun("turn")
	if e.inquiryOf("thread") != in || e.inquiryOf("sub") != in || e.inquiryOf("other") != nil {
		t.Error("a question of the thread, or of its subagent, does not find its turn")
	}
	e.closeInquiry("thread", in)
	if in.add(&question{}) == nil || e.inquiryOf("thread") != nil || e.inquiryOf("sub") != nil {
		t.Error("a turn that has ended takes questions")
	}
}

// TestAskerOf: a request is of the turn that it names, which may just be starting.
func TestAskerOf(t *testing.T) {
	t.Parallel()
	e := New(Config{Patience: time.Minute})
	in := e.openInquiry("thread", executor.Order{Attempt: executor.Attempt{Job: "j1"}}, func() {})
	asks := func(thread, params string) *inquiry {
		got, _ := e.askerOf(t.Context(), &appserver.Request{ThreadID: thread, Params: []byte(params)})
		return got
	}
	early := make(chan *inquiry)
	for _, turn := range []string{"turn", "earlier"} {
		go func() { early <- asks("thread", `{"turnId":"`+turn+`"}`) }()
	}
	if asks("thread", `{"turnId":null}`) != in {
		t.Error("what names no turn is not of the one that begins")
	}
	in.begun("turn")
	if one, other := <-early, <-early; one == other || one != in && other != in {
		t.Errorf("of a turn that was starting ask %v and %v", one, other)
	}
	e.followAgent(appserver.Notification{Method: appserver.NoteTurnStarted, Params: []byte(`{"threadId":"sub","turn":{"id":"s","rootTurnId":"turn","items":[],"status":"inProgress"}}`)})
	for params, want := range map[[2]string]*inquiry{
		{"thread", `{"turnId":"turn"}`}:    in,
		{"thread", `{"turnId":"earlier"}`}: nil,
		{"thread", `{"turnId":7}`}:         nil,
		{"sub", `{"turnId":"s"}`}:          in,
		{"sub", `{"turnId":"turn"}`}:       nil,
		{"other", `{}`}:                    nil,
	} {
		if got := asks(params[0], params[1]); got != want {
			t.Errorf("%s: %v", params, got)
		}
	}
	late := e.openInquiry("failed", executor.Order{Attempt: executor.Attempt{Job: "j2"}}, func() {})
	go func() { early <- asks("failed", `{"turnId":"turn"}`) }()
	e.closeInquiry("failed", late)
	if got := <-early; got != nil {
		t.Error("a turn that did not start asks")
	}
}

// TestTurnBehindOurs: a turn that begins while the one of an attempt is not known to have ended is
// not ours; one that begins while ours is being started may be.
func TestTurnBehindOurs(t *testing.T) {
	t.Parallel()
	e := New(Config{})
	c := &conversation{loadedIn: &child.Child{}, shown: shownThread{thread: "thread"}}
	e.conversations["one"] = c
	began := func(id string) {
		e.turnBegan(appserver.Notification{Method: appserver.NoteTurnStarted, ThreadID: "thread", Params: []byte(`{"threadId":"thread","turn":{"id":"` + id + `","items":[],"status":"inProgress"}}`)})
	}
	in := e.openInquiry("thread", executor.Order{Attempt: executor.Attempt{Job: "j1", Conversation: "one"}}, func() {})
	c.lock.Lock() // as long as a job runs
	began("ours")
	in.begun("ours")
	e.bidden(c, "ours")
	began("ours")
	began("other")
	if len(c.unbidden) != 1 || c.unbidden[0] != "other" {
		t.Errorf("not ours are %q", c.unbidden)
	}
	if c.strange.Owed() {
		t.Error("a turn that is behind ours is taken for one before it")
	}
	e.bidden(c, "next")
	if len(c.unbidden) != 0 || !c.strange.Owed() {
		t.Errorf("with the one before a turn of ours that would be taken out: %q, and the model is told: %t", c.unbidden, c.strange.Owed())
	}
	c.unbidden = []string{"before", "ours", "behind"}
	c.strange.Told()
	e.bidden(c, "ours")
	if len(c.unbidden) != 1 || c.unbidden[0] != "behind" || !c.strange.Owed() {
		t.Errorf("with one on either side: %q, and the model is told: %t", c.unbidden, c.strange.Owed())
	}
	c.unbidden = nil
	c.lock.Unlock()
	e.wg.Wait()
}

// TestRetracted: a question that is not put is open to no answer, and a guess at its id that
// came before is void.
func TestRetracted(t *testing.T) {
	t.Parallel()
	in := New(Config{}).openInquiry("thread", executor.Order{Attempt: executor.Attempt{Job: "j1"}}, func() {})
	for _, guessed := range []bool{true, false} {
		q := &question{req: &appserver.Request{}}
		if err := in.add(q); err != nil {
			t.Fatal(err)
		}
		in.take("turn")
		if guessed && !in.give(q, response{}) {
			t.Error("an open question takes no answer")
		}
		if !in.retract(q) || in.retract(q) || in.give(q, response{}) || len(in.answers()) > 0 {
			t.Errorf("guessed: %t: it is there yet", guessed)
		}
	}
}

// TestWithdrawnTooEarly: the note that a request is withdrawn may overtake it.
func TestWithdrawnTooEarly(t *testing.T) {
	t.Parallel()
	e := New(Config{})
	in := e.openInquiry("thread", executor.Order{Attempt: executor.Attempt{Job: "j1"}}, func() {})
	for thread, id := range map[string]string{"thread": "7", "other": "8"} { // a child that has ended may have called its own 8
		e.resolved(appserver.Notification{Method: appserver.NoteRequestResolved, ThreadID: thread, Params: []byte(`{"requestId": ` + id + `}`)})
	}
	for id, want := range map[string]bool{"7": false, "8": true} {
		if err := in.add(&question{req: &appserver.Request{ID: []byte(id)}}); (err == nil) != want {
			t.Errorf("request %s: %v", id, err)
		}
	}
}
