package tracing

import (
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// Watch implements [executor.Watcher]: it makes spans of what becomes of jobs.
func (t *Tracing) Watch(j executor.Job, into string, next executor.Observer) (observe executor.Observer, refused func(error)) {
	if t == nil {
		return next, nil
	}
	in := "queue"
	if into != "" {
		in = "steer"
	}
	w := t.accept(j, in)
	return t.observer(w, next), func(error) { t.refused(w) }
}

// work is a job, as far as it is traced.
type work struct {
	id   string
	from agent.TraceContext // what the job is part of

	mu     sync.Mutex // guards the fields below
	wait   trace.Span // nil while it does not wait
	turn   trace.Span // nil while none runs
	said   bool       // the turn has shown text
	turnID string     // codex's, once it is known
	model  string     // that answers, as far as it is known
	tools  map[string]trace.Span
}

// accept begins to trace a job, with what it waits in.
func (t *Tracing) accept(j executor.Job, in string) *work {
	w := &work{id: j.ID, from: j.Trace}
	w.wait = t.start(w.from, in, attribute.String("job.id", j.ID))
	if !trace.SpanContextFromContext(below(j.Trace)).IsValid() { // it is of no trace: its spans are one all the same
		w.from = textOf(w.wait)
	}
	if j.Cut != nil || j.Accepted {
		w.wait.SetAttributes(attribute.Bool("job.recovered", true))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.jobs[j.ID] = w
	return w
}

func (t *Tracing) start(at agent.TraceContext, name string, attrs ...attribute.KeyValue) trace.Span {
	_, span := t.tracer.Start(below(at), name, trace.WithAttributes(attrs...))
	return span
}

// refused ends what was begun for a job that the executor does not take.
func (t *Tracing) refused(w *work) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.endWaitLocked("refused")
	t.forget(w)
}

func (t *Tracing) forget(w *work) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.jobs[w.id] == w { // a steer that was refused is submitted under the same name
		delete(t.jobs, w.id)
	}
}

func (t *Tracing) find(job string) *work {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.jobs[job]
}

// Attempt begins the span of an attempt at a job, and returns its place, which codex is told
// with the turn. It is [executor.Config.Trace].
func (t *Tracing) Attempt(j executor.Job, n int) agent.TraceContext {
	w := t.find(j.ID)
	if w == nil {
		return j.Trace
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.endTurnLocked("cut off", codes.Error) // the one before, if there is one
	w.endWaitLocked("")
	w.beginLocked(t, n)
	return textOf(w.turn)
}

// Attempts is [Tracing.Attempt], nil where nothing is traced.
func (t *Tracing) Attempts() func(executor.Job, int) agent.TraceContext {
	if t == nil {
		return nil
	}
	return t.Attempt
}

// beginLocked begins the span of a turn.
func (w *work) beginLocked(t *Tracing, attempt int) {
	w.turn = t.start(w.from, "turn", attribute.String("job.id", w.id), attribute.Int("codex.attempt", attempt))
	w.said, w.turnID, w.model, w.tools = false, "", "", nil
}

// endWaitLocked ends the span of the waiting.
func (w *work) endWaitLocked(why string) {
	if w.wait == nil {
		return
	}
	if why != "" {
		w.wait.SetAttributes(attribute.String("outcome", why))
	}
	w.wait.End()
	w.wait = nil
}

// endTurnLocked ends the span of the turn that runs, with those of its tools.
func (w *work) endTurnLocked(outcome string, code codes.Code) {
	if w.turn == nil {
		return
	}
	for _, tool := range w.tools {
		tool.SetStatus(codes.Error, "unfinished")
		tool.End()
	}
	w.turn.SetAttributes(attribute.String("codex.outcome", outcome))
	if code == codes.Error {
		w.turn.SetStatus(code, outcome)
	}
	w.turn.End()
	w.turn, w.tools = nil, nil
}
