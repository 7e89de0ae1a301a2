package sim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// A message is one that a client sends until it is accepted.
type message struct {
	id, context string
	accepted    bool
	refused     bool
	task        a2a.TaskID
	tasks       []a2a.TaskID // one, and those of its retries
	retries     int
	into        a2a.TaskID // that it names; empty for none
	before      *message   // that was accepted before it in its context
}

// pauses are how long at the most a client waits before it sends the next message.
var pauses = []time.Duration{time.Second, 5 * time.Second, 5 * time.Second, 40 * time.Second}

// clients work through their contexts, each message after the one before was accepted.
func (r *run) client(name string, messages int) {
	var before *message
	for i := range messages {
		d := r.world.of("client", name, i)
		time.Sleep(d.between(0, pauses[d.IntN(len(pauses))]))
		m := &message{id: fmt.Sprintf("%s-m%d", name, i), context: name, before: before}
		if before != nil && d.happens(r.world.weather.names) {
			m.into = r.books.taskOf(before)
		}
		r.books.add(m)
		r.send(m, d)
		before = m
	}
}

// mostTries is how often a message is sent: where few may wait, it may take hours.
const mostTries = 400

// send sends a message until there is a word that it is accepted, or will not be.
func (r *run) send(m *message, d draw) {
	for try := 0; !r.books.decided(m); try++ {
		l := r.alive()
		ctx, leave := context.WithCancel(context.Background())
		if d.happens(r.world.weather.leaves) {
			time.AfterFunc(d.between(0, 20*time.Second), leave)
		}
		went := make(chan struct{})
		send := r.ways(d)
		r.clients.Go(func() {
			defer leave()
			send(ctx, l, m, went)
		})
		select {
		case <-went:
		case <-l.over:
		case <-ctx.Done():
			// It is not known whether it was taken: it is sent again.
		}
		time.Sleep(d.between(time.Millisecond, min(time.Duration(3+try), 20)*time.Second))
		select {
		case <-r.over: // it was told of a client that waits
			return
		default:
		}
		if try > mostTries {
			r.books.fault(m, "it is not accepted in %d tries", mostTries)
			return
		}
	}
	r.follow(m, d)
}

// follow does what clients do with a message that is accepted: they send it again, cancel it, look at it, or come back.
func (r *run) follow(m *message, d draw) {
	w := r.world.weather
	then := func(what string, percent float64, most time.Duration, do func(*life, *message)) {
		if !d.happens(percent) {
			return
		}
		after := d.between(0, most)
		r.clients.Go(func() {
			time.Sleep(after)
			r.story.tell(m.id, "its client: %s", what)
			do(r.alive(), m)
		})
	}
	then("sends it again", w.repeat, time.Minute, func(l *life, m *message) { r.stream(context.Background(), l, m, make(chan struct{})) })
	then("cancels it", w.cancels, time.Minute, r.cancel)
	then("comes back", w.leaves, time.Minute, r.resume)
	then("asks for it again", w.retries, 3*time.Minute, r.retry)
}

// wordsOf are what a message says.
func wordsOf(m *message) string { return "do " + m.id + "." }

func (m *message) words() *a2a.Message {
	return &a2a.Message{ID: m.id, ContextID: m.context, TaskID: m.into, Role: a2a.MessageRoleUser, Parts: a2a.ContentParts{a2a.NewTextPart(wordsOf(m))}}
}

// ways is how a client sends: most watch, some wait for the end, and some for nothing.
func (r *run) ways(d draw) func(context.Context, *life, *message, chan struct{}) {
	switch d.IntN(4) {
	case 0:
		return func(ctx context.Context, l *life, m *message, went chan struct{}) { r.wait(ctx, l, m, went, true) }
	case 1:
		return func(ctx context.Context, l *life, m *message, went chan struct{}) { r.wait(ctx, l, m, went, false) }
	}
	return r.stream
}

// wait sends the message once, and waits for its end unless that is to be at once.
func (r *run) wait(ctx context.Context, l *life, m *message, went chan struct{}, atOnce bool) {
	defer close(went)
	result, err := l.engine.SendMessage(ctx, &a2a.SendMessageRequest{
		Message: m.words(),
		Config:  &a2a.SendMessageConfig{ReturnImmediately: atOnce},
	})
	switch {
	case l.journal.dead.Load(): // what a dead runtime says was never heard
	case err != nil:
		r.hearError(m, err)
	default:
		if task, ok := result.(*a2a.Task); ok {
			r.hear(m, task)
		}
	}
}

// stream sends the message once and reads what becomes of it.
func (r *run) stream(ctx context.Context, l *life, m *message, went chan struct{}) {
	told := false
	for event, err := range l.engine.SendStreamingMessage(ctx, &a2a.SendMessageRequest{
		Message: m.words(),
	}) {
		if l.journal.dead.Load() { // what a dead runtime says was never heard
			return
		}
		if !told {
			told = true
			defer close(went)
		}
		if err != nil {
			r.hearError(m, err)
			return
		}
		r.hear(m, event)
	}
}

// hear takes what is said of a message.
func (r *run) hear(m *message, event a2a.Event) {
	switch event := event.(type) {
	case *a2a.Task:
		r.books.accept(m, event.ID, r.hasFailed)
		r.hearState(m, event.ID, event.Status)
	case *a2a.TaskStatusUpdateEvent:
		r.hearState(m, event.TaskID, event.Status)
	}
}

// hasFailed reports whether the state database has a task as failed, as far as it can be read now.
func (r *run) hasFailed(id a2a.TaskID) bool {
	r.mu.Lock()
	l := r.current
	r.mu.Unlock()
	if l == nil {
		return true
	}
	head, err := l.journal.Head(context.Background(), string(id))
	return err != nil || head.State == string(a2a.TaskStateFailed)
}

func (r *run) hearState(m *message, id a2a.TaskID, status a2a.TaskStatus) {
	switch {
	case status.State.Terminal():
		r.books.end(m, id, status.State)
	case status.State == a2a.TaskStateInputRequired:
		r.reply(id, r.hearQuestions(m, id, status.Message))
	}
}

// hearQuestions returns the question that is to be answered first.
func (r *run) hearQuestions(m *message, id a2a.TaskID, posed *a2a.Message) (first string) {
	for _, p := range posed.Parts {
		data, _ := p.Data().(map[string]any)
		question, _ := data["id"].(string)
		if question != "" {
			r.books.poses(m, id, question)
			first = cmp.Or(first, question)
		}
	}
	return first
}

func (r *run) hearError(m *message, err error) {
	r.story.tell(m.id, "its client hears: %v", err)
	if errors.Is(err, store.ErrExists) { // it is to be told of its task
		r.books.fault(m, "it is refused: %v", err)
		r.books.refuse(m)
	}
	if errors.Is(err, a2a.ErrInvalidParams) || errors.Is(err, a2a.ErrUnsupportedOperation) && m.into != "" {
		r.books.refuse(m)
	}
}

// reply answers what a task asks, once, and sometimes with what is not understood.
func (r *run) reply(id a2a.TaskID, question string) {
	n, first := r.books.asked(id)
	if !first {
		return
	}
	d := r.world.of("reply", id, n)
	if d.happens(20) {
		return // it is not answered
	}
	after := d.between(0, time.Minute)
	r.clients.Go(func() {
		time.Sleep(after)
		r.books.replied(id)
		text := "yes"
		if d.happens(15) {
			text = "what?"
		}
		parts := a2a.ContentParts{a2a.NewTextPart(text)}
		if d.happens(70) {
			parts = append(parts, a2a.NewDataPart(map[string]any{"id": question}))
		}
		l := r.alive()
		_, err := l.engine.SendMessage(context.Background(), &a2a.SendMessageRequest{
			Message: &a2a.Message{ID: fmt.Sprintf("reply-%s-%d", id, n), TaskID: id, Role: a2a.MessageRoleUser, Parts: parts},
			Config:  &a2a.SendMessageConfig{ReturnImmediately: true},
		})
		r.story.tell(string(id), "%q is answered: %v", text, err)
		if err == nil && len(parts) > 1 && text == "yes" && !l.journal.dead.Load() {
			r.books.answers(question)
		}
	})
}

// retry has a message run again if it was cut off, and asks so twice.
func (r *run) retry(l *life, m *message) {
	r.books.retries(m)
	for range 2 {
		r.clients.Go(func() {
			result, err := l.engine.SendMessage(context.Background(), &a2a.SendMessageRequest{
				Message: m.words(), Config: &a2a.SendMessageConfig{ReturnImmediately: true}, Metadata: map[string]any{"retry": true},
			})
			if task, ok := result.(*a2a.Task); ok && err == nil && !l.journal.dead.Load() {
				r.hear(m, task)
			}
		})
	}
}

func (r *run) cancel(l *life, m *message) {
	task := r.books.taskOf(m)
	r.books.cancels(task)
	over := make(chan struct{})
	defer close(over)
	r.clients.Go(func() { r.awaitCancel(l, m, task, over) })
	_, err := l.engine.CancelTask(context.Background(), &a2a.CancelTaskRequest{ID: task})
	r.story.tell(m.id, "canceled: %v", err)
}

// patience is how long a cancel may take at the most.
const patience = 90 * time.Second

// awaitCancel notes a cancel that has begun, and one that takes too long.
func (r *run) awaitCancel(l *life, m *message, task a2a.TaskID, over <-chan struct{}) {
	for begun := false; !begun; begun = l.journal.busy.Load() == 0 { // else it may wait for a write
		select {
		case <-over:
			return
		case <-l.over:
			return
		case <-time.After(time.Millisecond):
		}
	}
	r.world.cancels(task)
	select {
	case <-over:
	case <-l.over:
	case <-time.After(patience):
		r.books.fault(m, "it was canceled, and has no end in %v", patience)
	}
}

func (r *run) resume(l *life, m *message) {
	for event, err := range l.engine.SubscribeToTask(context.Background(), &a2a.SubscribeToTaskRequest{ID: r.books.taskOf(m)}) {
		if err != nil || l.journal.dead.Load() {
			return
		}
		r.hear(m, event)
	}
}
