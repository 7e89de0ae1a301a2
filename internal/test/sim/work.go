package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// work is what the agent does for a turn, until it has ended or the agent is dead.
func (t *turn) work() {
	name := t.of.ClientID()
	d, w := t.d.of("turn", name), t.d.weather
	if t.d.refusing() != nil {
		t.finish(func(r *turnRecord) { r.status, r.refused, r.failure = turnFailed, true, "the model refuses" })
		return
	}
	steps := 1 + d.IntN(4)
	for i := range steps {
		if !t.goesOn(d.between(time.Millisecond, 4*time.Second)) {
			return
		}
		if t.d.happens(w.agentDies, "dies", name, i) {
			t.d.kill(t.on, t.d.happens(w.agentKilled, "killed", name, i), fmt.Sprintf("at step %d of %s", i, t.r.id))
			return
		}
		t.arrive()
		if !t.step(d, i) {
			return
		}
	}
	t.arrive()
	t.complete(d)
}

// step does one thing, and reports whether the turn goes on.
func (t *turn) step(d draw, i int) bool {
	name, w := t.of.ClientID(), t.d.weather
	refuses := w.refuses / 3
	if t.d.look(t.r).worked {
		refuses *= 4
	}
	switch {
	case t.d.happens(w.works/2, "works", name, i):
		item := agent.Item{Kind: agent.KindCommand, ID: fmt.Sprint("tool-", i), Command: "make"}
		t.d.change(t.r, func(r *turnRecord) { r.worked = true })
		t.d.story.tell(name, "a tool runs")
		if t.d.happens(w.lags, "lags", name, i) && !t.goesOn(d.between(time.Millisecond, 5*time.Second)) {
			return false
		}
		t.says(note{event: agent.ItemStarted{Item: item}})
		if !t.goesOn(d.between(time.Millisecond, 10*time.Second)) {
			return false
		}
		t.says(note{event: agent.ItemCompleted{Item: item}})
	case t.d.happens(w.asks/2, "asks", name, i):
		q := &question{done: make(chan struct{})}
		t.d.story.tell(name, "it asks")
		t.says(note{ask: q})
		select {
		case <-q.done:
		case <-t.interrupt:
			return t.goesOn(time.Hour)
		case <-t.on.died:
			return false
		}
	case t.d.happens(w.hangs/3, "hangs", name, i):
		t.d.story.tell(name, "it hangs")
		return t.goesOn(1000 * time.Hour)
	case t.d.happens(refuses, "refuses", name, i):
		if kind := t.kindOfRefusal(d); kind != "" {
			t.d.refuse(kind, d.between(time.Second, 6*time.Minute))
		}
		t.finish(func(r *turnRecord) { r.status, r.refused, r.failure = turnFailed, true, "the model refuses" })
		return false
	case t.d.happens(w.full/2, "full", name, i):
		t.finish(func(r *turnRecord) { r.status, r.full, r.failure = turnFailed, true, "the context is full" })
		return false
	default:
		t.say(i)
	}
	return true
}

// kindOfRefusal is what all are refused for from now on; empty if it is this turn alone.
func (t *turn) kindOfRefusal(d draw) agent.FailureKind {
	switch d.IntN(3) {
	case 0:
		return agent.FailAuth
	case 1:
		return agent.FailLimit
	}
	return ""
}

// say says a sentence, in pieces.
func (t *turn) say(i int) {
	id, text := fmt.Sprint("message-", i), fmt.Sprintf("%s says %d. ", t.of.ClientID(), i)
	half := len(text) / 2
	t.says(note{event: agent.TextDelta{ItemID: id, Text: text[:half]}})
	t.says(note{event: agent.TextDelta{ItemID: id, Text: text[half:]}})
	t.d.change(t.r, func(r *turnRecord) { r.said = append(r.said, agent.Message{ItemID: id, Text: text}) })
	t.says(note{event: agent.ItemCompleted{Item: agent.Item{Kind: agent.KindMessage, ID: id, Text: text}}})
}

// complete is the end that there should be.
func (t *turn) complete(d draw) {
	if d.happens(3) {
		t.finish(func(r *turnRecord) { r.status, r.failure = turnFailed, "the model broke off" })
		return
	}
	if !t.goesOn(d.between(time.Millisecond, 2*time.Second)) { // what is offered meanwhile is taken all the same
		return
	}
	t.say(99)
	t.finish(func(r *turnRecord) { r.status = turnCompleted })
}

// arrive has what was offered stand in the history.
func (t *turn) arrive() {
	t.mu.Lock()
	all := t.offered
	t.offered = nil
	t.mu.Unlock()
	for _, client := range all {
		t.d.change(t.r, func(r *turnRecord) { r.clients = append(slices.Clone(r.clients), client) })
		t.d.story.tell(client, "it is in %s", t.r.id)
		t.says(note{arrived: client})
	}
}

// goesOn lets time pass, and reports whether the turn goes on then.
func (t *turn) goesOn(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	interrupt := t.interrupt
	for {
		select {
		case <-timer.C:
			return true
		case <-t.on.died:
			return false
		case <-interrupt:
			if t.d.happens(t.d.weather.ignores, "ignores", t.of.ClientID()) {
				interrupt = nil
				continue
			}
			t.finish(func(r *turnRecord) { r.status = turnInterrupted })
			return false
		}
	}
}

// finish writes the end down, and says it: or not, or late.
func (t *turn) finish(by func(*turnRecord)) {
	name, w := t.of.ClientID(), t.d.weather
	t.d.change(t.r, func(r *turnRecord) {
		if by(r); r.status == turnCompleted {
			t.takeRest(r)
		}
		t.d.story.tell(name, "%s is %s %s", r.id, r.status, r.failure)
	})
	switch {
	case t.d.happens(w.lostEnd, "end lost", name):
		t.says(note{idle: true})
	case t.d.happens(w.lateEnd, "end late", name):
		timer := time.NewTimer(t.d.of("end", name).between(time.Second, 20*time.Second))
		defer timer.Stop()
		select {
		case <-timer.C:
			t.says(note{end: true})
		case <-t.on.died:
		}
	default:
		t.says(note{end: true})
	}
}

// takeRest has a turn that completes take all that was acknowledged.
func (t *turn) takeRest(r *turnRecord) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r.clients = append(slices.Clone(r.clients), t.offered...)
	for _, client := range t.offered {
		t.d.story.tell(client, "it is in %s, in its last moment", r.id)
	}
	t.offered = nil
}

func (t *turn) says(n note) {
	select {
	case t.notes <- n:
	case <-t.on.died:
	}
}
