package sim

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// A world is what outlives the runtime: the threads of the agent, and what its model thinks of the account.
type world struct {
	chance
	weather weather
	story   *story
	outages []outage

	mu       sync.Mutex // guards the fields below; nothing waits while it is held
	threads  map[string]*thread
	all      []*turnRecord     // every turn that ever began, those included that were taken out of a history
	messages map[string]string // of each job the text of its message
	refused  refusals
	canceled map[a2a.TaskID]time.Time // tasks whose end was begun, for certain
	wrongs   []wrong
	calm     bool // nothing goes wrong any more
}

// A wrong is a turn that must not be.
type wrong struct{ job, what string }

// An outage is a time in which nothing can be written.
type outage struct{ from, to time.Time }

// A thread is the history of a context.
type thread struct {
	id    string
	turns []*turnRecord
}

// A turnRecord is a turn as the history has it.
type turnRecord struct {
	id, context string
	clients     []string // the attempts whose messages stand in it; the first is its own
	answers     []string // what its questions were answered with
	status      turnStatus
	worked      bool // a tool has started
	told        bool // the runtime was told of that, and has lived on
	full        bool // it has met the end of the context
	refused     bool // for the credential
	said        []agent.Message
	failure     string
}

type turnStatus string

const (
	turnRuns        turnStatus = "runs"
	turnCompleted   turnStatus = "completed"
	turnFailed      turnStatus = "failed"
	turnInterrupted turnStatus = "interrupted"
)

// refusals are until when the model refuses all turns.
type refusals struct{ limit, login time.Time }

func newWorld(seed uint64, s *story) *world {
	c := chance(seed)
	w := &world{
		chance: c, weather: c.weather(), story: s,
		threads: map[string]*thread{}, messages: map[string]string{}, canceled: map[a2a.TaskID]time.Time{},
	}
	for n := range w.weather.outages {
		d := c.of("outage", n)
		from := time.Now().Add(d.between(0, 3*time.Minute))
		w.outages = append(w.outages, outage{from, from.Add(d.between(time.Second, 20*time.Second))})
	}
	return w
}

// happens draws for what is named so, while things go wrong.
func (w *world) happens(percent float64, name ...any) bool {
	w.mu.Lock()
	calm := w.calm
	w.mu.Unlock()
	return !calm && w.of(name...).happens(percent)
}

// isFull reports whether nothing can be written now.
func (w *world) isFull() bool {
	now := time.Now()
	return slices.ContainsFunc(w.outages, func(o outage) bool { return now.After(o.from) && now.Before(o.to) })
}

// brings notes which message a job is of; what stands in its place later, behind a summary, is none.
func (w *world) brings(job string, input []agent.Input) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.messages[job]; !known && len(input) > 0 {
		w.messages[job] = input[0].Text
	}
}

// thread returns that of a context, which is made at its first use.
func (w *world) thread(context string) *thread {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.threads[context] == nil {
		w.threads[context] = &thread{id: "thread-" + context}
	}
	return w.threads[context]
}

// begin writes a turn into a history.
func (w *world) begin(context, client string) *turnRecord {
	th := w.thread(context)
	w.mu.Lock()
	defer w.mu.Unlock()
	r := &turnRecord{id: fmt.Sprintf("turn-%d", len(w.all)+1), context: context, clients: []string{client}, status: turnRuns}
	w.judge(client)
	th.turns = append(th.turns, r)
	w.all = append(w.all, r)
	w.story.tell(client, "it is %s of %s", r.id, th.id)
	return r
}

// hasted is how long what was under way may go on behind a cancel.
const hasted = 5 * time.Second

// judge notes what is wrong with a turn that begins. The caller holds w.mu.
func (w *world) judge(client string) {
	job := jobOf(client)
	if slices.ContainsFunc(w.all, func(r *turnRecord) bool { return r.clients[0] == client }) {
		w.wrongs = append(w.wrongs, wrong{job, "two turns of it have one name: " + client})
	}
	if at, ended := w.canceled[tasks.TaskOf(job)]; ended && time.Since(at) > hasted {
		w.wrongs = append(w.wrongs, wrong{job, "a turn of it begins, and its task was canceled long before: " + client})
	}
}

// wrong notes a turn that must not be.
func (w *world) wrong(job, what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrongs = append(w.wrongs, wrong{job, what})
}

// cancels notes that the end of a task was begun.
func (w *world) cancels(id a2a.TaskID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.canceled[id]; !known {
		w.canceled[id] = time.Now()
	}
}

// takeOut takes a turn out of its history.
func (w *world) takeOut(r *turnRecord) {
	th := w.thread(r.context)
	w.mu.Lock()
	defer w.mu.Unlock()
	th.turns = slices.DeleteFunc(th.turns, func(other *turnRecord) bool { return other == r })
}

// change changes a record.
func (w *world) change(r *turnRecord, by func(*turnRecord)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	by(r)
}

// look returns a record as it is.
func (w *world) look(r *turnRecord) turnRecord {
	w.mu.Lock()
	defer w.mu.Unlock()
	is := *r
	is.clients, is.said = slices.Clone(r.clients), slices.Clone(r.said)
	return is
}

// find returns the turns of a history that have a message of an attempt, as is says.
func (w *world) find(context string, is func(client string) bool) (found []*turnRecord) {
	th := w.thread(context)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range th.turns {
		if slices.ContainsFunc(r.clients, is) {
			found = append(found, r)
		}
	}
	return found
}

// refusal is what the model refuses all turns for now, zero if it does not.
func (w *world) refusal() (kind agent.FailureKind, until time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	switch {
	case w.refused.login.After(now):
		return agent.FailAuth, w.refused.login
	case w.refused.limit.After(now):
		return agent.FailLimit, w.refused.limit
	}
	return "", time.Time{}
}

// refuse has the model refuse all turns for a while.
func (w *world) refuse(kind agent.FailureKind, lasts time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if kind == agent.FailAuth {
		w.refused.login = time.Now().Add(lasts)
		return
	}
	w.refused.limit = time.Now().Add(lasts)
}

// settle has nothing go wrong from now on.
func (w *world) settle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calm = true
}
