package fakecodex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// action returns what a turn does: what its text names, or what the script says.
func (s *server) action(text string) step {
	if name, ok := strings.CutPrefix(text, "!"); ok {
		if steps := parse(name); len(steps) > 0 {
			return steps[0]
		}
	}
	return s.turn
}

// startTurnLocked starts a turn, or folds the input into the one that runs.
func (s *server) startTurnLocked(id json.RawMessage, p params) {
	t := s.threads[p.ThreadID]
	if t == nil {
		s.refuse(id, "thread not found: "+p.ThreadID)
		return
	}
	if t.active != nil {
		s.addInputLocked(t, p)
		s.answer(id, object{"turn": t.active.view("notLoaded")})
		return
	}
	do := s.action(p.text())
	if do.name == "die-before" {
		fatal(do.num(0, 3), "thread 'main' panicked before the turn")
	}
	started := &turn{ID: s.newIDLocked("turn"), Status: "inProgress"}
	if do.name != "no-start-answer" {
		s.answer(id, object{"turn": started.view("notLoaded")})
	}
	if do.name == "die-both" {
		_ = syscall.Kill(os.Getppid(), syscall.SIGKILL)
		fatal(killed, "killed with the one that had started it")
	}
	if do.name == "die-early" {
		fatal(do.num(0, 3), "thread 'main' panicked early in the turn")
	}
	t.Turns, t.active = append(t.Turns, started), started
	s.logLocked(t, "event_msg", object{"type": "task_started", "turn_id": started.ID})
	ctx, stop := context.WithCancel(context.Background())
	t.running = &execution{s: s, t: t, turn: started, do: do, text: p.text(), ctx: ctx, stop: stop, steered: make(chan struct{}, 1)}
	if do.name == "begin-late" {
		t.running.beginLateLocked(p)
		return
	}
	t.running.beginLocked(p)
}

// beginLocked shows that the turn runs, and runs it.
func (x *execution) beginLocked(p params) {
	x.s.tellLocked(x.t, "thread/status/changed", object{"status": object{"type": "active", "activeFlags": []any{}}})
	x.s.tellLocked(x.t, "turn/started", object{"turn": x.turn.view("notLoaded")})
	x.s.addInputLocked(x.t, p)
	go x.run()
}

// beginLateLocked has a turn be for long what it is for a moment in codex: its history calls it
// interrupted, and there is nothing to interrupt.
func (x *execution) beginLateLocked(p params) {
	x.late, x.turn.Status = true, "interrupted"
	x.s.tellLocked(x.t, "thread/status/changed", object{"status": object{"type": "idle"}})
	time.AfterFunc(x.do.ms(0), func() {
		x.s.mu.Lock()
		defer x.s.mu.Unlock()
		x.late, x.turn.Status = false, "inProgress"
		x.beginLocked(p)
	})
}

// addInputLocked records a user's message in the running turn.
func (s *server) addInputLocked(t *thread, p params) {
	item := object{"type": "userMessage", "id": s.newIDLocked("item"), "clientId": p.ClientID, "content": p.Input}
	t.active.Items = append(t.active.Items, item)
	s.logItemLocked(t, t.active.ID, item)
	s.save(t)
	if t.running.without("message") {
		return
	}
	for _, method := range []string{"item/started", "item/completed"} {
		s.tellLocked(t, method, object{"turnId": t.active.ID, "item": item})
	}
}

func (s *server) steer(p params) (any, error) {
	t := s.threads[p.ThreadID]
	switch {
	case t == nil:
		return nil, fmt.Errorf("thread not found: %s", p.ThreadID)
	case t.active == nil:
		return nil, errors.New("no active turn to steer")
	case t.active.ID != p.ExpectedTurnID:
		return nil, fmt.Errorf("expected active turn id `%s` but found `%s`", p.ExpectedTurnID, t.active.ID)
	}
	if _, lose := s.step("lose-steers"); !lose {
		s.addInputLocked(t, p)
		t.running.text += "\n" + p.text()
	}
	select {
	case t.running.steered <- struct{}{}:
	default:
	}
	return object{"turnId": t.active.ID}, nil
}

// interruptLocked answers first and ends the turn then.
func (s *server) interruptLocked(id json.RawMessage, p params) {
	t := s.threads[p.ThreadID]
	switch {
	case t == nil:
		s.refuse(id, "thread not found: "+p.ThreadID)
	case t.active == nil || t.running.late:
		s.refuse(id, "no active turn to interrupt")
	case t.active.ID != p.TurnID:
		s.refuse(id, fmt.Sprintf("expected active turn id %s but found %s", p.TurnID, t.active.ID))
	default:
		s.answer(id, object{})
		if t.running.do.name != "stubborn" {
			t.running.stop()
		}
	}
}
