package codex_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
)

// The tests in this file run on the real codex and a model that refuses to read what it is asked.

// flagging is a model that refuses to read whatever has a certain word in it, and takes its time the
// first time, until release is called.
func flagging(t *testing.T) (model *modeltest.Model, held *atomic.Bool, release func()) {
	t.Helper()
	held, released := new(atomic.Bool), make(chan struct{})
	model = modeltest.Start(t, func(turn *fakemodel.Turn) {
		if !strings.Contains(string(turn.Body), "FLAGGED") {
			fakemodel.Keywords(turn)
			return
		}
		if held.CompareAndSwap(false, true) {
			<-released
		}
		turn.Fail(http.StatusBadRequest, `{"error":{"message":"your prompt was flagged","code":"invalid_prompt"}}`)
	})
	release = sync.OnceFunc(func() { close(released) })
	t.Cleanup(release)
	return model, held, release
}

// TestMessageThatIsRefusedAtAnotherAttempt: the attempt before it, which was cut off, has the same message.
func TestMessageThatIsRefusedAtAnotherAttempt(t *testing.T) {
	t.Parallel()
	model, held, release := flagging(t)
	e := onCodex(t, model, nil)
	submit(t, e, "j1", "one", "remember teal-7").wait(t)
	w := submit(t, e, "j2", "one", "say FLAGGED")
	eventually(t, "the model to be asked", held.Load)
	killCodex(t, e)
	release()
	if end := w.wait(t); end.Outcome != agent.Failed || !strings.Contains(end.Failure.Message, "flagged") {
		t.Errorf("what is refused ends with %+v (%v)", end, end.Failure)
	}
	end := submit(t, e, "j3", "one", "recall").wait(t)
	if end.Outcome != agent.Completed || !strings.Contains(said(end), "teal-7") {
		t.Errorf("the message after it ends with %+v (%v)", end, end.Failure)
	}
}

// TestRefusedAmidATurn: what joins a turn that has done something stays, and the failure says what helps.
func TestRefusedAmidATurn(t *testing.T) {
	t.Parallel()
	model, _, release := flagging(t)
	release()
	cfg := codexConfig(t, model)
	e := running(t, cfg)
	w := submit(t, e, "j2", "one", runUntilTaken)
	eventually(t, "the turn to run", func() bool { return commandRuns(w) })
	s := steer(t, e, "j2", "s1", "one", "say FLAGGED")
	eventually(t, "codex to take it", steered(s))
	takenUp(t, cfg)
	if end := w.wait(t); end.Outcome != agent.Failed || !strings.Contains(end.Failure.Message, "/new") {
		t.Errorf("the turn ends with %+v (%v)", end, end.Failure)
	}
}

// TestMessageThatWasNotRead stays where that may pass, or the model has read it: the next one may be
// about it.
func TestMessageThatWasNotRead(t *testing.T) {
	t.Parallel()
	fails := func(status int) func(*fakemodel.Turn) {
		return func(turn *fakemodel.Turn) { turn.Fail(status, "not now") }
	}
	var dropped atomic.Bool
	for name, c := range map[string]struct {
		fails func(*fakemodel.Turn)
		stays bool
	}{
		"dropped, and refused": {func(turn *fakemodel.Turn) {
			if dropped.CompareAndSwap(false, true) {
				turn.Drop()
			}
			turn.Fail(400, "no")
		}, false},
		"400": {fails(400), false}, "413": {fails(413), false}, "422": {fails(422), false},
		"invalid": {func(turn *fakemodel.Turn) { turn.FailStream("invalid_prompt", "no") }, false},
		"refused behind a thought": {func(turn *fakemodel.Turn) {
			turn.Reason("thinking of it")
			turn.FailStream("invalid_prompt", "no")
		}, false},
		"402": {fails(402), true}, "404": {fails(404), true}, "408": {fails(408), true}, "409": {fails(409), true}, "500": {fails(500), true},
		"error":   {func(turn *fakemodel.Turn) { turn.FailStream("server_error", "no") }, true},
		"dropped": {func(turn *fakemodel.Turn) { turn.Drop() }, true},
		"half": {func(turn *fakemodel.Turn) {
			turn.OpenMessage("final_answer")
			turn.Delta("half an answer about the matter, ")
			turn.Drop()
		}, true},
		"half, and refused": {func(turn *fakemodel.Turn) {
			turn.OpenMessage("final_answer")
			turn.Delta("half an answer about the matter, ")
			turn.FailStream("invalid_prompt", "no")
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var away atomic.Bool
			model := modeltest.Start(t, func(turn *fakemodel.Turn) {
				if away.Load() {
					c.fails(turn)
					return
				}
				fakemodel.Keywords(turn)
			})
			e := onCodex(t, model, func(config *config) {
				if strings.HasPrefix(name, "dropped, and") { // codex asks again
					config.Child.Args = retrying(config.Child.Args)
				}
			})
			submit(t, e, "j1", "one", "say one").wait(t)
			away.Store(true)
			end := submit(t, e, "j2", "one", "remember teal-7").wait(t)
			away.Store(false)
			if told := strings.Contains(end.Failure.Message, "will not read this message"); told == c.stays {
				t.Errorf("the failure is %v", end.Failure)
			}
			end = submit(t, e, "j3", "one", "recall").wait(t)
			if strings.Contains(said(end), "teal-7") != c.stays {
				t.Errorf("the message after it ends with %q (%v)", said(end), end.Failure)
			}
		})
	}
}
