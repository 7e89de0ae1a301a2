package fakecodex

import (
	"context"
	"strings"
	"time"
)

// An execution is a turn that runs, on a goroutine of its own.
type execution struct {
	s       *server
	t       *thread
	turn    *turn
	do      step
	text    string // what comes back
	ctx     context.Context
	stop    context.CancelFunc // turn/interrupt
	steered chan struct{}      // holds a token once turn/steer came
	started string             // the command that is open; or empty
	late    bool               // it has not begun yet; guarded by server.mu
}

// ending is what the rollout file calls the end of a turn.
func ending(status string) string {
	if status == "interrupted" {
		return "turn_aborted"
	}
	return "task_complete"
}

// end settles the turn.
func (x *execution) end(status string, failure object) {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	x.stop()
	x.turn.Status, x.turn.Error = status, failure
	x.s.logLocked(x.t, "event_msg", object{"type": ending(status), "turn_id": x.turn.ID})
	x.s.save(x.t)
	if strings.HasSuffix(x.do.name, "-done") {
		fatal(x.do.num(0, 3), "thread 'main' panicked after the turn")
	}
	x.t.active, x.t.running = nil, nil
	if x.do.name == "lose-completed" {
		return
	}
	x.s.tellLocked(x.t, "thread/status/changed", object{"status": object{"type": "idle"}})
	if x.do.name == "lose-completed-chatty" {
		go func() {
			for {
				time.Sleep(100 * time.Millisecond)
				x.s.mu.Lock()
				x.s.tellLocked(x.t, "item/commandExecution/outputDelta", object{"turnId": "turn-earlier", "itemId": "c", "delta": "tick"})
				x.s.mu.Unlock()
			}
		}()
		return
	}
	if x.without("end") || x.do.name == "lose-completed-idle" || x.do.name == "hang-lose-end" || x.do.name == "abort-lose-end" {
		return
	}
	view := x.turn.view("summary")
	if status == "interrupted" {
		view["items"] = []any{}
	}
	x.s.tellLocked(x.t, "turn/completed", object{"turn": view})
}

// sleep reports whether the turn goes on.
func (x *execution) sleep(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-x.ctx.Done():
		return false
	}
}
