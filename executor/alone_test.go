package executor

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// TestLimitOfItsOwn has a job wait for the end of a limit that no other has met.
func TestLimitOfItsOwn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		left     time.Duration // until the limit ends; 0 where that is not known
		refusals int           // this one included
		want     time.Duration
	}{
		"unknown":         {0, 1, 5 * time.Second},
		"unknown-again":   {0, 3, 20 * time.Second},
		"known":           {2 * time.Hour, 1, 2 * time.Hour},
		"as-good-as-over": {time.Second, 2, 10 * time.Second},
		"far-off":         {100 * time.Hour, 1, 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e, j, told := waiting(t)
				j.refusals, j.aside = c.refusals, &Refusal{Kind: agent.FailLimit, Limit: "rate", Why: "slow down", Model: "rare"}
				if c.left > 0 {
					j.aside.Until = time.Now().Add(c.left)
				}
				began := time.Now()
				end := e.gate(j)
				if took := time.Since(began); end != nil || took != c.want {
					t.Errorf("it waited %s, want %s; end = %+v", took, c.want, end)
				}
				if n := len(*told); n != 2 {
					t.Errorf("told %v, want that it waits and that it does no more", *told)
				}
				if e.gate(j) != nil || time.Since(began) != c.want {
					t.Error("it waits for the same again")
				}
			})
		})
	}
}

// TestLimitOfItsOwnWithAnotherCredential is waited for no longer, and has not refused that one.
func TestLimitOfItsOwnWithAnotherCredential(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, j, _ := waiting(t)
		began := time.Now()
		e.driver = &absent{exchanged: func() bool { return time.Since(began) > 50*time.Second }}
		j.refusals, j.aside = 3, &Refusal{Kind: agent.FailLimit, Limit: "rate", Why: "slow down", Until: time.Now().Add(time.Hour), Model: "rare"}
		end := e.gate(j)
		if took := time.Since(began); end != nil || took != time.Minute || j.refusals != 2 {
			t.Errorf("it waited %s, and was refused %d times; end = %+v", took, j.refusals, end)
		}
	})
}

// TestHoldWhileItWaitsAlone closes and opens the hold meanwhile: the job is told of what it
// waits for, and of the hold where that lasts longer.
func TestHoldWhileItWaitsAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, j, told := waiting(t)
		j.refusals, j.aside = 1, &Refusal{Kind: agent.FailLimit, Limit: "rate", Why: "slow down", Until: time.Now().Add(time.Hour), Model: "rare"}
		over := make(chan *agent.Ended)
		go func() { over <- e.gate(j) }()
		synctest.Wait()
		all := &Refusal{Kind: agent.FailAuth, Why: "bad key"}
		e.hold.change(func() {
			e.hold.cause, e.hold.shown = all, &Pause{Paused: agent.Paused{Kind: agent.FailAuth, Text: "log in"}}
		})
		e.tell(j)
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		e.hold.change(func() { e.hold.cause, e.hold.shown = nil, nil })
		if end := <-over; end != nil {
			t.Errorf("end = %+v", end)
		}
		j.pause.leave(j.observe)
		var kinds []agent.FailureKind
		for _, event := range *told {
			held, _ := event.(agent.Paused)
			kinds = append(kinds, held.Kind)
		}
		if len(kinds) != 3 || kinds[0] != agent.FailLimit || kinds[1] != agent.FailAuth || kinds[2] != "" {
			t.Errorf("told %q, want of the limit, of the login, and of the end", kinds)
		}
	})
}

// waiting returns a job that waits, of an executor without an agent, and what it is told.
func waiting(t *testing.T) (*Executor, *job, *[]agent.Event) {
	t.Helper()
	e := New(Config{}, &absent{})
	var told []agent.Event
	ctx, cancel := context.WithCancelCause(t.Context())
	return e, &job{Job: Job{Patient: true}, observe: func(event agent.Event) { told = append(told, event) }, ctx: ctx, cancel: cancel}, &told
}

// An absent driver has no agent.
type absent struct {
	Driver
	err       error // of probes
	probes    atomic.Int32
	exchanged func() bool // whether the credential is another one
}

func (*absent) Serve(context.Context, Host) {}

func (*absent) Idle() {}

func (a *absent) Probe(context.Context) (*Refusal, error) {
	a.probes.Add(1)
	return nil, a.err
}

func (a *absent) Watch() func() bool {
	if a.exchanged == nil {
		return func() bool { return false }
	}
	return a.exchanged
}

func (*absent) Close(_ context.Context, served <-chan struct{}) error {
	<-served
	return nil
}
