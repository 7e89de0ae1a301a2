package tasks

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/attach"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/origin"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/progress"
)

// A run is one turn of a task, from the submission of its job to its end. Its
// task's lock guards it; its events come from the runner.
type run struct {
	task    *task
	message *a2a.Message // what it was made of
	jobID   string
	answers []string        // ids of the questions over a restart that its message answers
	options agent.Options   // of its turn
	weight  int             // of the message, see weight.go
	further bool            // it keeps its task from ending, see past.go
	from    origin.Sender   // of the message
	met     []origin.Sender // that have been posed something of what its turn asks; see meet

	before any // what the task had of [keys.Notification] before this run was made, if it changed that

	recovered *store.Message // what an earlier process left; nil if it came in by this one
	input     []agent.Input  // of a recovered one
	lend      agent.Lender   // of a recovered one; may be nil
	command   string         // that a recovered one is
	refused   error          // why no turn can be made of it

	fate     fate          // of the message
	known    chan struct{} // closed when the fate is known; nil if it is
	admitted bool
	early    []agent.Event // those that came before the run was admitted
	ended    bool
	waits    *agent.Paused // why it cannot start yet; nil if nothing but its turn is waited for
	report   func()        // what follows from the end without the lock: the log hears of it, files go

	attempt     int                         // the number of the turn, of those made of this message
	started     time.Time                   // of the turn in codex; zero before that
	machine     string                      // that its commands run on; empty is this one
	tool        bool                        // a tool of the turn has started
	began       map[string]time.Time        // the tools that run, by their items
	void        []*artifact                 // what an earlier attempt had shown
	heard       bool                        // the first text has come
	texts       []*artifact                 // the messages of the turn
	unclosed    []*artifact                 // those that are whole, and whose last chunk is kept for files
	open        map[string]*artifact        // the newest of them for each item id
	thoughts    map[string]*strings.Builder // reasoning summaries that are not whole
	tools       []any                       // that the turn has used, for the platform
	calls       progress.Calls              // to the model, in the turn
	delegations map[string]bool             // the calls that wait for another agent, by their items
	pictures    map[string]attach.File      // that it has made and that are not shown yet, by their items
	offered     []attach.File               // that its reply names
	changed     string                      // the diff of the turn so far
	diff        *artifact                   // what of it was shown; nil if nothing was

	flushed time.Time // when text was published last
	timer   *time.Timer
	armed   bool // the timer is running, and counted in Engine.wg
}

// observe is the run's [executor.Observer].
func (r *run) observe(event agent.Event) {
	r.offer(event)
	if report := r.take(event); report != nil {
		report()
	}
}

// take handles an event, or keeps it for later. What it returns is to be called
// without the lock: those who wait for the end of the turn must not wait for
// the log.
func (r *run) take(event agent.Event) (report func()) {
	r.task.lock()
	defer r.task.unlock()
	if !r.admitted {
		r.early = append(r.early, event)
		return nil
	}
	r.handle(event)
	report, r.report = r.report, nil
	return report
}

// admit lets the events in.
func (r *run) admit() {
	r.admitted = true
	for _, event := range r.early {
		r.handle(event)
	}
	r.early = nil
	if r.report != nil { // it has ended already
		r.report()
		r.report = nil
	}
}

func (r *run) handle(event agent.Event) {
	if r.ended {
		return
	}
	switch event := event.(type) {
	case agent.Started:
		r.start(event)
	case agent.TextDelta:
		r.delta(event)
	case agent.ItemStarted:
		r.itemStarted(event)
	case agent.ItemCompleted:
		r.itemCompleted(event.Item)
	case agent.ReasoningDelta:
		r.think(event)
	case agent.PlanUpdated:
		r.task.tell(progress.Plan(event))
	case agent.Notice:
		r.task.tell(map[string]any{"type": "notice", "text": event.Text})
	case agent.ModelCalled:
		r.calls.Add(event)
	case agent.DiffUpdated:
		r.changed = event.Diff
	case agent.Question:
		r.ask(event)
	case agent.Answered:
		r.task.dropQuestions(event.Note, func(q *question) bool { return q.run == r && q.asked.ID == event.ID })
	case agent.Produced:
		r.produce(event)
	case agent.Paused:
		r.hold(event)
	case agent.Resumed:
		r.release()
	case agent.Steered:
		r.decide(fate{turn: keys.TurnSteered})
	case agent.Unsteered:
		r.decide(queued(event.Ahead))
	case agent.Ended:
		r.end(event)
	}
}

func (r *run) start(event agent.Started) {
	t := r.task
	if r.started.IsZero() {
		t.engine.cfg.Metrics.TurnStarted(event.Waited)
	} else {
		r.startOver()
	}
	r.started, r.attempt, r.tool, r.calls = time.Now(), event.Attempt, false, progress.Calls{}
	r.machine = event.Machine
	meta := map[string]any{keys.ThreadID: event.ThreadID, keys.TurnID: event.TurnID, keys.Message: r.number(), keys.Attempt: nil, keys.ModelCalls: nil, keys.Machine: nil}
	if event.Attempt > 1 {
		meta[keys.Attempt] = event.Attempt
	}
	if event.Machine != "" {
		meta[keys.Machine] = event.Machine
	}
	if event.Cwd != "" {
		meta[keys.Cwd] = event.Cwd
	}
	if event.Replaced {
		meta[keys.Replaced] = true
	}
	if r.waits != nil {
		r.waits, meta[keys.Held] = nil, nil
	}
	if t.newest(r) {
		meta[keys.Turn], meta[keys.Ahead] = keys.TurnStarted, nil
	}
	t.note(meta)
	t.working(store.Turn{Job: r.jobID, Attempt: event.Attempt, Thread: event.ThreadID, TurnID: event.TurnID})
}

// number is that of the run's message in its task, from 1. Two messages of a task
// may have one messageId.
func (r *run) number() float64 {
	n := r.jobID[strings.LastIndexByte(r.jobID, '.')+1:]
	number, _ := strconv.ParseFloat(n, 64) // newJob has made it
	return number
}

// startOver makes room for another attempt: what the one before has shown stays
// until the new one shows something in its place.
func (r *run) startOver() {
	r.pushRest()
	r.task.dropQuestions("", func(q *question) bool { return q.run == r })
	for _, a := range r.texts {
		if a.before != nil {
			a = a.before
		}
		r.void = append(r.void, a)
	}
	r.dropDiff()
	r.texts, r.unclosed, r.open, r.thoughts, r.delegations, r.began = nil, nil, nil, nil, nil, nil
	r.task.epoch++
}

func (r *run) itemStarted(event agent.ItemStarted) {
	item := event.Item
	switch {
	case item.Kind == agent.KindMessage:
		r.begin(item)
	case item.Kind.IsTool():
		r.toolStarted(item, event.Stray)
	case item.Kind == agent.KindCompaction:
		r.task.tell(progress.Item(item, "inProgress"))
	}
}

// toolStarted tells of a tool once it is certain that a crash will not make us
// forget it: a turn with a tool in it is not run again.
func (r *run) toolStarted(item agent.Item, stray bool) {
	r.closeWhole()
	r.delegate(item, true)
	r.clock(item)
	t, data := r.task, progress.Item(item, "inProgress")
	if r.tool || stray {
		t.tell(data)
		return
	}
	r.tool = true
	t.commit(store.Change{Turn: &store.Turn{Job: r.jobID, Attempt: r.attempt, Tool: true}}, t.progress(data))
}

func (r *run) itemCompleted(item agent.Item) {
	switch item.Kind {
	case agent.KindMessage:
		r.whole(agent.Message{ItemID: item.ID, Text: item.Text, Phase: item.Phase})
	case agent.KindReasoning:
		r.thought(item)
	case agent.KindPlan:
		r.task.tell(map[string]any{"type": "plan", "id": item.ID, "text": item.Text})
	default:
		r.delegate(item, false)
		r.clocked(item)
		r.trace(item)
		r.task.tell(progress.Item(item, "completed"))
		r.handPicture(item)
	}
}

// mostThought bounds the reasoning that is collected for one item.
const mostThought = 64 << 10

// think collects a reasoning summary, for items that end without one.
func (r *run) think(d agent.ReasoningDelta) {
	b := r.thoughts[d.ItemID]
	if b == nil {
		if r.thoughts == nil {
			r.thoughts = map[string]*strings.Builder{}
		}
		b = &strings.Builder{}
		r.thoughts[d.ItemID] = b
	}
	if b.Len()+len(d.Text) <= mostThought {
		b.WriteString(d.Text)
	}
}

func (r *run) thought(item agent.Item) {
	text := strings.Join(item.Summary, "\n\n")
	if b := r.thoughts[item.ID]; text == "" && b != nil {
		text = b.String()
	}
	delete(r.thoughts, item.ID)
	if text != "" {
		r.task.tell(map[string]any{"type": "reasoning", "id": item.ID, "text": text})
	}
}

// unbegun lets go of the files of a message that has ended before codex was given it.
func (r *run) unbegun(change *store.Change) {
	parts := r.message.Parts
	if r.task.engine.cfg.Files == nil || r.attempt > 0 || len(change.Cut) > 0 || !slices.ContainsFunc(parts, attach.IsFile) {
		return
	}
	change.Unbegun = []string{r.jobID}
	said := r.report
	r.report = func() {
		said()
		r.task.engine.cfg.Files.Drop(attach.UrisOf(parts))
	}
}
