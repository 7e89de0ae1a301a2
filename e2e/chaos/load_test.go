package chaos

import (
	"context"
	"errors"
	"sync"
	"time"
)

// patience bounds how long a message may take. What takes longer is stuck.
const patience = 3 * time.Minute

// A load is the clients of a run.
type load struct {
	*client
	ledger *Ledger
	file   string        // that commands append to
	enough chan struct{} // closed when no more messages are wanted
}

// converse sends the messages of one conversation until there are enough, and
// returns when all have ended.
func (l *load) converse(ctx context.Context, next func() *Message) {
	var open sync.WaitGroup
	defer open.Wait()
	before := "" // the task of the message before
	for {
		select {
		case <-l.enough:
			return
		case <-ctx.Done():
			return
		default:
		}
		m := next()
		l.ledger.open(m)
		before = l.deliver(ctx, &open, m, before)
		if m.N%3 == 0 {
			open.Wait()
		}
	}
}

// deliver brings a message to acceptance and goes on with it until its end,
// beside what follows if its door allows it. It returns the task.
func (l *load) deliver(ctx context.Context, open *sync.WaitGroup, m *Message, before string) string {
	ctx, cancel := context.WithTimeout(ctx, patience)
	follow := ""
	if m.Follow {
		follow = before
	}
	l.ledger.sending.send()
	if m.Twin {
		open.Go(func() { l.twin(m, follow) })
	}
	accepted := make(chan string, 1) // gets the task, or "" if there is none
	open.Go(func() {
		defer cancel()
		l.see(ctx, m, follow, accepted)
	})
	return <-accepted
}

// see sends a message and stays with it until its end.
func (l *load) see(ctx context.Context, m *Message, follow string, accepted chan<- string) {
	tell := sync.OnceFunc(func() { accepted <- "" })
	defer tell()
	r := &reader{c: l.client, stall: m.Stall}
	begun := func(task string) {
		l.ledger.isTask(m, task)
		tell = sync.OnceFunc(func() {})
		select {
		case accepted <- task:
		default:
		}
	}
	task, err := l.send(ctx, m, follow, r, begun)
	if err != nil {
		l.unanswered(ctx, m, follow, err)
		return
	}
	if m.Cancel > 0 {
		l.cancel(ctx, m, task)
	}
	l.outlive(ctx, m, follow, task, r)
}

// unanswered is the end of a message that was not accepted.
func (l *load) unanswered(ctx context.Context, m *Message, follow string, err error) {
	refused, ok := errors.AsType[*rpcError](err)
	switch {
	case ok && follow != "" && refused.Code == -32004:
		l.ledger.refused(m)
	case ctx.Err() != nil:
		l.ledger.fault("message %s is stuck: %v", m.ID, err)
	default:
		l.ledger.fault("message %s was refused: %v", m.ID, err)
	}
}

// send brings a message through its door, as often as it takes, and returns its
// task. A client that leaves comes back with the same message.
func (l *load) send(ctx context.Context, m *Message, follow string, r *reader, begun func(string)) (string, error) {
	leave := m.Leave
	for {
		try, cancel := ctx, context.CancelFunc(func() {})
		if leave > 0 {
			try, cancel = context.WithTimeout(ctx, leave)
		}
		task, err := l.sendOnce(try, m, follow, r, begun)
		gone := try.Err() != nil
		cancel()
		if err == nil || ctx.Err() != nil || !gone && !passing(err) {
			return task, err
		}
		if gone {
			leave = 0
		}
		pause(ctx, 15*time.Millisecond)
	}
}

func (l *load) sendOnce(ctx context.Context, m *Message, follow string, r *reader, begun func(string)) (string, error) {
	method, params := sending(m, m.Door, l.file, follow, false)
	if !m.Door.stream() {
		task, err := l.call(ctx, method, params)
		if err != nil {
			return "", err
		}
		begun(str(task, "id"))
		return str(task, "id"), nil
	}
	err := r.follow(ctx, method, params, begun)
	if errors.Is(err, errCut) && r.task == "" {
		return "", err
	}
	if r.task != "" { // what follows goes on behind the last event
		return r.task, nil
	}
	return r.task, err
}

// twin sends the message at the same time in the other version.
func (l *load) twin(m *Message, follow string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	other := begin0
	if m.Door.old() {
		other = begin1
	}
	method, params := sending(m, other, l.file, follow, false)
	task, err := l.insist(ctx, method, params)
	if err == nil {
		l.ledger.isTask(m, str(task, "id"))
		return
	}
	l.unanswered(ctx, m, follow, err)
}

func (l *load) cancel(ctx context.Context, m *Message, task string) {
	pause(ctx, m.Cancel)
	method := "CancelTask"
	if m.Door.old() {
		method = "tasks/cancel"
	}
	_, err := l.insist(ctx, method, object{"id": task})
	if refused, ok := errors.AsType[*rpcError](err); ok && refused.Code != -32002 {
		l.ledger.fault("message %s could not be canceled: %v", m.ID, err)
	}
}

// outlive waits for the end of a message's task, and of those that it is run
// again in on purpose.
func (l *load) outlive(ctx context.Context, m *Message, follow, task string, r *reader) {
	for {
		end, kept, ok := l.await(ctx, m, task, r)
		if !ok {
			return
		}
		l.ledger.ended("its end", task, end)
		if r.task == task && r.ended {
			if what := r.differs(kept); what != "" {
				l.ledger.fault("the stream of message %s is not its task %s: %s", m.ID, task, what)
			}
		}
		if !end.Interrupted || !m.Retry || m.Cancel > 0 || follow != "" {
			return
		}
		method, params := sending(m, begin1, l.file, follow, true)
		again, err := l.insist(ctx, method, params)
		if err != nil {
			l.ledger.fault("message %s could not be run again: %v", m.ID, err)
			return
		}
		before := task
		task = str(again, "id")
		l.ledger.isTask(m, task)
		if task == before && shared(kept) {
			return // another message of it was cut off, and not this one
		}
		if task == before {
			l.ledger.fault("message %s was to be run again, and its interrupted task %s was the answer", m.ID, task)
			return
		}
	}
}

// await waits for a task's end: by its stream, if it was sent through one.
func (l *load) await(ctx context.Context, m *Message, task string, r *reader) (end Ending, kept object, ok bool) {
	for {
		kept, err := l.get(ctx, task)
		if err != nil {
			if ctx.Err() != nil {
				l.ledger.fault("message %s is stuck in task %s: %v", m.ID, task, err)
			} else {
				l.ledger.fault("task %s of message %s is lost: %v", task, m.ID, err)
			}
			return Ending{}, nil, false
		}
		end, over := ending(kept)
		if r.task == task && !r.ended {
			l.resume(ctx, m, r)
			continue
		}
		if over {
			return end, kept, true
		}
		pause(ctx, 25*time.Millisecond)
	}
}

// resume goes on with a stream that broke off.
func (l *load) resume(ctx context.Context, m *Message, r *reader) {
	method := "SubscribeToTask"
	if m.Door.old() {
		method = "tasks/resubscribe"
	}
	behind := r.last != ""
	err := r.follow(ctx, method, object{"id": r.task}, nil)
	refused, wasRefused := errors.AsType[*rpcError](err)
	switch {
	case err == nil && behind:
		l.ledger.wentOn()
	case wasRefused && !passing(err):
		if behind {
			l.ledger.fault("the stream of message %s could not be resumed behind %s: %v", m.ID, r.last, refused)
		}
		r.task = "" // without an id the stream of an ended task is refused
	case err != nil:
		pause(ctx, 15*time.Millisecond)
	}
}
