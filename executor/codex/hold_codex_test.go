package codex_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
)

// The tests in this file run on the real codex and a model that refuses.

// A door is a model that refuses everything while it is shut.
type door struct {
	shut   atomic.Bool
	refuse func(*fakemodel.Turn)
}

func (d *door) answer(t *fakemodel.Turn) {
	if d.shut.Load() {
		d.refuse(t)
		return
	}
	fakemodel.Keywords(t)
}

func unauthorized(t *fakemodel.Turn) {
	t.Fail(http.StatusUnauthorized, `{"error":{"message":"bad key"}}`)
}

// onDoor returns an executor whose model is shut, with codex's own retries as
// they are in real life.
func onDoor(t *testing.T, refuse func(*fakemodel.Turn), change func(*config)) (*rig, *modeltest.Model, *door) {
	t.Helper()
	d := &door{refuse: refuse}
	d.shut.Store(true)
	model := modeltest.Start(t, d.answer)
	e := onCodex(t, model, func(c *config) {
		c.Child.Args = retrying(c.Child.Args)
		c.KeyVariable = modeltest.KeyVar
		c.LoginProbe, c.LimitProbe = time.Second, 200*time.Millisecond
		if change != nil {
			change(c)
		}
	})
	return e, model, d
}

// retrying puts codex's own number of retries in the place of none.
func retrying(args []string) []string {
	all := make([]string, len(args))
	for i, arg := range args {
		arg = strings.ReplaceAll(arg, ",request_max_retries=0", "")
		all[i] = strings.ReplaceAll(arg, ",stream_max_retries=0", "")
	}
	return all
}

// wantAsked wants the model to have been asked so many times for an answer to a text, and
// to have refused some of them. Codex may have begun to ask again for each of those, by
// itself, before it was stopped: it does so after 0.2 s, and then three times more.
func wantAsked(t *testing.T, model *modeltest.Model, text string, times, refused int) {
	t.Helper()
	n := 0
	for _, r := range model.Requests() {
		if r.LastUserText() == text {
			n++
		}
	}
	if n < times || n > times+refused {
		t.Errorf("the model was asked %d times for an answer to %q, want %d", n, text, times)
	}
}

func heldWith(t *testing.T, w *witness) agent.Paused {
	t.Helper()
	eventually(t, "the job to be held", func() bool { return len(seen[agent.Paused](w)) > 0 })
	return seen[agent.Paused](w)[0]
}

func TestRefusedCredentialHoldsTheJob(t *testing.T) {
	e, model, _ := onDoor(t, unauthorized, func(c *config) { c.LoginProbe = time.Hour })
	began := time.Now()
	first := submit(t, e, "j1", "one", "say one")
	held := heldWith(t, first)
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %s until the job was held", took)
	}
	if held.Kind != agent.FailAuth || held.Data["variable"] != modeltest.KeyVar || !strings.Contains(held.Text, modeltest.KeyVar) {
		t.Errorf("held = %+v, want it to name the variable", held)
	}
	if strings.Contains(held.Text, "127.0.0.1") {
		t.Errorf("held names the model's endpoint: %s", held.Text)
	}
	// Others are told at once, whatever their context, and the model is not asked.
	others := []*witness{submit(t, e, "j2", "one", "say two"), submit(t, e, "j3", "three", "say three")}
	for _, w := range others {
		heldWith(t, w)
	}
	wantAsked(t, model, "say one", 1, 1)
	wantAsked(t, model, "say two", 0, 0)
	wantAsked(t, model, "say three", 0, 0)
	if h := e.Health(); h.Hold == nil || h.Hold.Kind != agent.FailAuth || h.Running != 0 || h.Waiting != 3 {
		t.Errorf("health = %+v, want three that wait for a login", h)
	}
	if why := e.Held(); !strings.Contains(why, "refuses the credential") {
		t.Errorf("held because %q", why)
	}
	if err := e.Cancel(t.Context(), "j2"); err != nil {
		t.Fatal(err)
	}
	if end := others[0].wait(t); end.Outcome != agent.Canceled {
		t.Errorf("a held job that was canceled ended %+v", end)
	}
}

// TestQueueGoesOnByItself opens the door: a probe finds out, and the model reads
// each message once.
func TestQueueGoesOnByItself(t *testing.T) {
	t.Parallel() // it mostly waits
	e, model, d := onDoor(t, unauthorized, nil)
	remember := submit(t, e, "j1", "one", "remember blue-42")
	recall := submit(t, e, "j2", "one", "recall")
	other := submit(t, e, "j3", "three", "say three")
	heldWith(t, remember)
	time.Sleep(2500 * time.Millisecond) // of refused probes
	since := time.Since(startOfHold(e))
	turns := 2 + 1 + int(since/time.Second)      // at most one of each context, and a probe a second
	if n := len(model.Requests()); n > 2*turns { // a request, and codex's first try again
		t.Errorf("the model was asked %d times within %s while it refused", n, since)
	}
	d.shut.Store(false)
	if end := remember.wait(t); end.Outcome != agent.Completed || len(seen[agent.Resumed](remember)) != 1 {
		t.Errorf("end = %+v (%v), want it completed after a release", end, end.Failure)
	}
	if got := said(recall.wait(t)); !strings.Contains(got, "blue-42") {
		t.Errorf("the next turn recalls %q", got)
	}
	if got := said(other.wait(t)); !strings.Contains(got, "three") {
		t.Errorf("the other context says %q", got)
	}
	for _, r := range model.Requests() {
		all := strings.Join(r.UserTexts(), "|")
		if r.Outcome == fakemodel.Completed && (strings.Count(all, "blue-42") > 1 || strings.Contains(all, "interrupted")) {
			t.Errorf("the model reads a message twice, or of an interruption: %q", r.UserTexts())
		}
	}
	if e.Health().Hold != nil {
		t.Error("the hold is still closed")
	}
}

// TestRefusedInMidTurn ends a turn in which a tool has run.
func TestRefusedInMidTurn(t *testing.T) {
	e, model, _ := onDoor(t, func(turn *fakemodel.Turn) {
		if len(turn.NewToolOutputs()) > 0 || !strings.Contains(turn.LastUserText(), "run ") {
			unauthorized(turn)
			return
		}
		fakemodel.Keywords(turn)
	}, func(cfg *config) { cfg.LoginProbe = time.Hour })
	began := time.Now()
	end := submit(t, e, "j1", "one", "run echo side-effect").wait(t)
	wantEnd(t, end, agent.Failed, agent.FailAuth)
	if !end.Tools || !strings.Contains(end.Failure.Message, "after tools had run") || time.Since(began) > 20*time.Second {
		t.Errorf("after %s: end = %+v: %v", time.Since(began), end, end.Failure)
	}
	wantAsked(t, model, "run echo side-effect", 2, 1)
}

// TestRefusedForItself has one message refused while the credential is taken from
// others: that is found out at once, and it fails alone.
func TestRefusedForItself(t *testing.T) {
	t.Parallel() // it mostly waits
	e, model, _ := onDoor(t, func(turn *fakemodel.Turn) {
		if turn.LastUserText() == "say forbidden" {
			turn.Fail(http.StatusForbidden, `{"error":{"message":"not for you"}}`)
			return
		}
		fakemodel.Keywords(turn)
	}, func(c *config) { c.LoginProbe = time.Hour })
	refused := submit(t, e, "j1", "one", "say forbidden")
	wantEnd(t, refused.wait(t), agent.Failed, agent.FailAuth)
	for _, w := range []*witness{submit(t, e, "j2", "one", "say two"), submit(t, e, "j3", "three", "say three")} {
		wantEnd(t, w.wait(t), agent.Completed, "")
	}
	if e.Held() != "" {
		t.Errorf("held: %s", e.Held())
	}
	wantAsked(t, model, "say forbidden", 2, 2)
	wantAsked(t, model, "say two", 1, 0)
	wantAsked(t, model, "say three", 1, 0)
}

func TestMissingKeyIsNamed(t *testing.T) {
	t.Parallel()
	e, model, d := onDoor(t, unauthorized, func(c *config) {
		c.Child.Env, c.KeyVariable = c.Child.Env[:len(c.Child.Env)-1], ""
	})
	d.shut.Store(false)
	held := heldWith(t, submit(t, e, "j1", "one", "say one"))
	if held.Kind != agent.FailAuth || held.Data["variable"] != modeltest.KeyVar {
		t.Errorf("held = %+v", held)
	}
	if n := len(model.Requests()); n != 0 {
		t.Errorf("the model was asked %d times", n)
	}
}

func submitPatient(t *testing.T, e *rig, id, context, text string) *witness {
	t.Helper()
	w := &witness{ended: make(chan agent.Ended, 1)}
	job := executor.Job{ID: id, Context: context, Input: []agent.Input{agent.Text(text)}, Patient: true}
	if _, err := e.Submit(job, w.observe); err != nil {
		t.Fatal(err)
	}
	return w
}
