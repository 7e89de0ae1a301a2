package codex

import (
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/inquiry"
)

// TestClosedInquiry takes no question that comes too late for its turn.
func TestClosedInquiry(t *testing.T) {
	t.Parallel()
	e := New(Config{})
	j := executor.Order{Attempt: executor.Attempt{Job: "j1"}}
	in := e.desk.Open("thread", j, func() {})
	e.desk.AgentsTurn(appserver.Notification{Method: appserver.NoteTurnStarted, Params: []byte(`{"threadId":"sub","turn":{"id":"s","rootTurnId":"turn","items":[],"status":"inProgress"}}`)})
	in.Begun("turn")
	if e.desk.Of("thread") != in || e.desk.Of("sub") != in || e.desk.Of("other") != nil {
		t.Error("a question of the thread, or of its subagent, does not find its turn")
	}
	e.closeInquiry(in)
	if in.Add(&inquiry.Question{}) == nil || e.desk.Of("thread") != nil || e.desk.Of("sub") != nil {
		t.Error("a turn that has ended takes questions")
	}
}

// TestAskerOf: a request is of the turn that it names, which may just be starting.
func TestAskerOf(t *testing.T) {
	t.Parallel()
	e := New(Config{Patience: time.Minute})
	in := e.desk.Open("thread", executor.Order{Attempt: executor.Attempt{Job: "j1"}}, func() {})
	asks := func(thread, params string) *inquiry.Inquiry {
		got, _ := e.askerOf(t.Context(), &appserver.Request{ThreadID: thread, Params: []byte(params)})
		return got
	}
	early := make(chan *inquiry.Inquiry)
	for _, turn := range []string{"turn", "earlier"} {
		go func() { early <- asks("thread", `{"turnId":"`+turn+`"}`) }()
	}
	if asks("thread", `{"turnId":null}`) != in {
		t.Error("what names no turn is not of the one that begins")
	}
	in.Begun("turn")
	if one, other := <-early, <-early; one == other || one != in && other != in {
		t.Errorf("of a turn that was starting ask %v and %v", one, other)
	}
	e.desk.AgentsTurn(appserver.Notification{Method: appserver.NoteTurnStarted, Params: []byte(`{"threadId":"sub","turn":{"id":"s","rootTurnId":"turn","items":[],"status":"inProgress"}}`)})
	for params, want := range map[[2]string]*inquiry.Inquiry{
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
	late := e.desk.Open("failed", executor.Order{Attempt: executor.Attempt{Job: "j2"}}, func() {})
	go func() { early <- asks("failed", `{"turnId":"turn"}`) }()
	e.closeInquiry(late)
	if got := <-early; got != nil {
		t.Error("a turn that did not start asks")
	}
}

// TestWithdrawnTooEarly: the note that a request is withdrawn may overtake it.
func TestWithdrawnTooEarly(t *testing.T) {
	t.Parallel()
	e := New(Config{})
	in := e.desk.Open("thread", executor.Order{Attempt: executor.Attempt{Job: "j1"}}, func() {})
	for thread, id := range map[string]string{"thread": "7", "other": "8"} { // a child that has ended may have called its own 8
		e.resolved(appserver.Notification{Method: appserver.NoteRequestResolved, ThreadID: thread, Params: []byte(`{"requestId": ` + id + `}`)})
	}
	for id, want := range map[string]bool{"7": false, "8": true} {
		if err := in.Add(&inquiry.Question{Req: &appserver.Request{ID: []byte(id)}}); (err == nil) != want {
			t.Errorf("request %s: %v", id, err)
		}
	}
}
