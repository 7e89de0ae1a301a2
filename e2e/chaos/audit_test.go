package chaos

import (
	"context"
	"os"
	"slices"
	"strings"
)

// A Tally is what the auditor has counted.
type Tally struct {
	Messages, Refused                              int
	Completed, Canceled, Failed, TimedOut          int
	Interrupted, InterruptedText, RetriedOnPurpose int
	InterruptedThere                               int // by what became of a machine
	Lines, Reruns, Recut, Faulted                  int
}

// An auditor checks the books when no more strikes come.
type auditor struct {
	*load
	tally  Tally
	cuts   bool            // nothing was struck but the connections to the model
	chain  map[string]int  // how many tasks a message has had
	shared map[string]bool // the tasks, by whether they have had several messages
}

func newAuditor(l *load) *auditor {
	return &auditor{load: l, chain: map[string]int{}, shared: map[string]bool{}}
}

// tasks checks each message against its task, while the program still runs.
func (a *auditor) tasks(ctx context.Context) {
	for _, e := range a.ledger.order {
		a.tally.Messages++
		a.tally.Reruns += max(0, e.asked-e.faulted-e.recut-1)
		a.tally.Recut += e.recut
		a.tally.Faulted += e.faulted
		if e.Refused {
			a.refused(e)
			continue
		}
		a.task(ctx, e)
	}
}

func (a *auditor) refused(e *Entry) {
	a.tally.Refused++
	if len(e.Tasks) > 0 || e.asked > 0 {
		a.ledger.fault("message %s was refused, and yet is of tasks %v and reached the model %d times", e.ID, e.Tasks, e.asked)
	}
}

// task checks one message that was accepted.
func (a *auditor) task(ctx context.Context, e *Entry) {
	if len(e.Tasks) == 0 {
		a.ledger.fault("message %s never became a task", e.ID)
		return
	}
	newest := e.Tasks[len(e.Tasks)-1]
	task, err := a.get(ctx, newest)
	if err != nil {
		a.ledger.fault("task %s of message %s is lost: %v", newest, e.ID, err)
		return
	}
	end, over := ending(task)
	if !over {
		a.ledger.fault("task %s of message %s has not ended: %s", newest, e.ID, end.State)
		return
	}
	a.ledger.ended("the audit", newest, end)
	chain := a.walk(ctx, e, newest, task)
	a.count(e, end, a.shared[newest])
	a.sightings(e, chain)
	a.repeat(ctx, e, newest, end)
}

// walk goes back over what was run again on purpose: the message must be of
// these tasks and of no other.
func (a *auditor) walk(ctx context.Context, e *Entry, newest string, task object) int {
	var chain []string
	for id := newest; id != ""; {
		chain = append(chain, id)
		a.shared[id] = shared(task)
		if id = str(task, "metadata", "retryOf"); id == "" {
			break
		}
		var err error
		if task, err = a.get(ctx, id); err != nil {
			a.ledger.fault("task %s, which was run again, is lost: %v", id, err)
			break
		}
	}
	for _, id := range e.Tasks {
		if !slices.Contains(chain, id) {
			a.ledger.fault("message %s is of two tasks: %s is not among %v", e.ID, id, chain)
		}
	}
	a.chain[e.ID] = len(chain)
	a.tally.RetriedOnPurpose += len(chain) - 1
	return len(chain)
}

// shared reports whether a task has had several messages of its user.
func shared(task object) bool {
	n := 0
	history, _ := task["history"].([]any)
	for _, m := range history {
		if role := str(m, "role"); role == "ROLE_USER" || role == "user" {
			n++
		}
	}
	return n > 1
}

// explains reports whether a message has what explains its end, or one that has come to its task.
func (a *auditor) explains(e *Entry, has func(*Message) bool) bool {
	if has(e.Message) {
		return true
	}
	return slices.ContainsFunc(a.ledger.order, func(other *Entry) bool {
		return has(other.Message) && slices.ContainsFunc(other.Tasks, func(id string) bool { return slices.Contains(e.Tasks, id) })
	})
}

// count checks that an end is one that the plan explains. Cuts of the connections to the model
// explain none: codex tries again, and there are fewer for a turn than that could take.
func (a *auditor) count(e *Entry, end Ending, shared bool) {
	switch {
	case end.State == "completed":
		a.tally.Completed++
		if got := strings.TrimSpace(end.Text); !shared && got != strings.TrimSpace(e.Answer()) {
			a.ledger.fault("message %s was answered %q, want %q", e.ID, got, e.Answer())
		}
		if !shared && e.said == 0 {
			a.ledger.fault("message %s is completed, and the model never answered it", e.ID)
		}
		if shared && !e.given && !end.Interrupted { // a message to a running turn, which was lost
			a.ledger.fault("message %s is of a completed task, and the model was never given it", e.ID)
		}
	case end.State == "canceled" && a.explains(e, func(m *Message) bool { return m.Cancel > 0 }):
		a.tally.Canceled++
	case end.State == "failed" && end.Interrupted && !a.cuts:
		a.tally.Interrupted++
		if strings.Contains(end.Why, "machine m") {
			a.tally.InterruptedThere++
		}
		if end.Why == "" {
			a.ledger.fault("message %s is interrupted, and its task does not say so in words", e.ID)
		}
		if !e.Command {
			a.tally.InterruptedText++
			if end.Attempt < 2 && !shared {
				a.ledger.fault("message %s of %v has no command, was cut off once, and is interrupted: %+v", e.ID, e.Tasks, end)
			}
		}
	case end.State == "failed" && end.Kind == "model" && a.explains(e, func(m *Message) bool { return m.Fault == fails }):
		a.tally.Failed++
	case end.State == "failed" && end.Kind == "timeout" && a.explains(e, func(m *Message) bool { return m.Fault == hangs }):
		a.tally.TimedOut++
	default:
		a.ledger.fault("nothing explains the end of message %s: %+v", e.ID, end)
	}
}

// sightings checks how often the model was given the message: once, and once
// more for each task when its turn was cut off before it did anything. The further time for which
// a cut of the connections to the model is to blame does not count.
func (a *auditor) sightings(e *Entry, chain int) {
	lives := 2
	if a.cuts {
		lives = 1
	}
	if n := e.asked - e.faulted - e.recut; n > lives*chain {
		a.ledger.fault("the model was given message %s %d times in %d tasks", e.ID, n, chain)
	}
}

// repeat sends the message once more: the answer is the one that it has.
func (a *auditor) repeat(ctx context.Context, e *Entry, newest string, end Ending) {
	if e.Follow && len(e.Tasks) > 0 && end.State != "" {
		return // which task it named is the client's to know
	}
	for _, door := range []door{blocking1, blocking0} {
		method, params := sending(e.Message, door, a.file, "", false)
		task, err := a.insist(ctx, method, params)
		if err != nil {
			a.ledger.fault("message %s, repeated, was refused: %v", e.ID, err)
			return
		}
		if id := str(task, "id"); id != newest {
			a.ledger.fault("message %s, repeated, became task %s, want %s", e.ID, id, newest)
		}
		if got, _ := ending(task); got != end {
			a.ledger.fault("message %s, repeated, ended as %+v, want %+v", e.ID, got, end)
		}
	}
}

// order checks that the model was given the messages of each conversation in
// the order in which they were accepted, the first time: a turn that is run again
// begins with its own message, and not with what has been said to it since.
func (a *auditor) order() {
	for conversation, heard := range a.ledger.heard {
		last, before := &Entry{Message: new(Message)}, map[string]bool{}
		for _, e := range heard {
			if a.chain[e.ID] > 1 || before[e.ID] {
				continue // run again on purpose, at another time, or again
			}
			before[e.ID] = true
			if e.N < last.N {
				a.ledger.fault("in %s the model was given %s after %s", conversation, e.ID, last.ID)
			}
			last = e
		}
	}
}

// lines checks that no command has run twice.
func (a *auditor) lines() {
	text, err := os.ReadFile(a.file)
	if err != nil && !os.IsNotExist(err) {
		a.ledger.fault("%v", err)
	}
	count := map[string]int{}
	for line := range strings.Lines(string(text)) {
		count[strings.TrimSpace(line)]++
	}
	for id, n := range count {
		a.tally.Lines += n
		if n > a.chain[id] {
			a.ledger.fault("the command of message %s ran %d times in %d tasks", id, n, a.chain[id])
		}
	}
	for _, e := range a.ledger.order {
		if !e.Command || count[e.ID] > 0 || len(e.Tasks) == 0 {
			continue
		}
		newest := e.Tasks[len(e.Tasks)-1]
		if a.ledger.ends[newest].State == "completed" && !a.shared[newest] {
			a.ledger.fault("message %s is completed, and its command never ran", e.ID)
		}
	}
}
