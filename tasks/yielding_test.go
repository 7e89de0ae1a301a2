package tasks_test

import (
	"context"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// waits are the ways to wait for what becomes of a message.
var waits = map[string]func(context.Context, *tasks.Engine, *a2a.SendMessageRequest){
	"send": func(ctx context.Context, e *tasks.Engine, req *a2a.SendMessageRequest) {
		_, _ = e.SendMessage(ctx, req)
	},
	"stream": func(ctx context.Context, e *tasks.Engine, req *a2a.SendMessageRequest) {
		for range e.Stream(ctx, req, "") {
		}
	},
}

// yields reports whether a call yields before it ends, which end may bring about.
func yields(t *testing.T, wait func(context.Context), end func()) bool {
	ctx, leave := context.WithCancel(t.Context())
	yielded, done := make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(done)
		wait(tasks.OnYielding(ctx, func() { yielded <- struct{}{} }))
	}()
	defer func() { leave(); <-done }()
	end()
	select {
	case <-yielded:
		return true
	case <-done:
		return len(yielded) > 0
	case <-time.After(time.Minute):
		t.Error("it neither yields nor ends")
		return false
	}
}

// TestPeersYield: who waits for what becomes of another agent's message, as often as it is
// sent.
func TestPeersYield(t *testing.T) {
	for name, wait := range waits {
		for who, meta := range map[string]map[string]any{"named": by("bob"), "nameless": {"delegation_id": "d"}} {
			t.Run(name+"-"+who, func(t *testing.T) {
				d := newDesk(t)
				for i := range 3 {
					req := request("m", "", "hi")
					req.Metadata = meta
					if !yields(t, func(ctx context.Context) { wait(ctx, d.e, req) }, func() {}) {
						t.Errorf("time %d: it does not yield", i+1)
					}
				}
			})
		}
	}
}

// TestPeersYieldForFiles: before a file of another agent's message is fetched, which may take
// its time. This message is refused then.
func TestPeersYieldForFiles(t *testing.T) {
	for name, wait := range waits {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, func(c *tasks.Config) { c.Files = &depot{} })
			req := request("m", "", "hi")
			req.Metadata = by("bob")
			for range 21 {
				req.Message.Parts = append(req.Message.Parts, a2a.NewFileURLPart("https://example.com/a.txt", "text/plain"))
			}
			if !yields(t, func(ctx context.Context) { wait(ctx, d.e, req) }, func() {}) {
				t.Error("it does not yield")
			}
		})
	}
}

// TestUsersDoNotYield.
func TestUsersDoNotYield(t *testing.T) {
	for name, wait := range waits {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			req := request("m", "canvas-ws", "hi")
			if yields(t, func(ctx context.Context) { wait(ctx, d.e, req) }, func() {
				j := d.r.next(t)
				begun(j)
				j.observe(agent.Ended{Outcome: agent.Completed})
			}) {
				t.Error("it yields")
			}
		})
	}
}

// TestSubscribersYield in a workspace, whosever the task is: they do not say who they are.
func TestSubscribersYield(t *testing.T) {
	subscribe := func(e *tasks.Engine, id a2a.TaskID) func(context.Context) {
		return func(ctx context.Context) {
			for range e.Resume(ctx, &a2a.SubscribeToTaskRequest{ID: id}, "") {
				break // the first of it is what all are sent
			}
		}
	}
	for name, meta := range map[string]map[string]any{"agents": by("bob"), "users": nil} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.call("m", "", meta, "hi")
			id := tasks.TaskOf(d.r.next(t).ID)
			if !yields(t, subscribe(d.e, id), func() {}) {
				t.Error("it does not yield")
			}
			if !yields(t, func(ctx context.Context) { _, _ = d.e.CancelTask(ctx, &a2a.CancelTaskRequest{ID: id}) }, func() {}) {
				t.Error("a cancel does not yield")
			}
		})
	}
	t.Run("alone", func(t *testing.T) {
		r := newRunner()
		e := newEngine(t, r)
		begin(t, e, request("m", "", "hi"))
		if yields(t, subscribe(e, tasks.TaskOf(r.next(t).ID)), func() {}) {
			t.Error("it yields where all callers are alike")
		}
	})
}
