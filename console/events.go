package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"
)

const (
	newest     = 50 // tasks at the beginning of a stream
	lookEvery  = time.Second
	tasksEvery = 100 * time.Millisecond // between two looks at tasks that have changed
	silence    = 4 * time.Second        // after which a comment says that we are there
)

// events streams the state and the tasks until the reader leaves, or does not read.
func (c *Console) events(w http.ResponseWriter, r *http.Request) {
	select {
	case c.streams <- struct{}{}:
		defer func() { <-c.streams }()
	default:
		w.Header().Set("Retry-After", "10")
		refuse(w, http.StatusServiceUnavailable, "the console is open 16 times already, which is the most; close one of them")
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	s := &stream{console: c, w: w, rc: http.NewResponseController(w), watch: c.cfg.Tasks.Watch()}
	defer s.watch.Close()
	if err := s.run(r.Context()); err != nil && r.Context().Err() == nil {
		c.log.Debug("a stream of the console has ended", "err", err)
	}
}

// A stream is told what is new.
type stream struct {
	console *Console
	w       http.ResponseWriter
	rc      *http.ResponseController
	watch   Watch

	state []byte    // that was sent last
	spoke time.Time // when something was sent last
}

// run returns when ctx ends, or with the reason for which it cannot go on. The browser
// then comes back by itself.
func (s *stream) run(ctx context.Context) error {
	err := errors.Join(s.raw("retry: 2000\n\n"), s.tellState(ctx), s.tellList(ctx))
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	again := time.NewTimer(tasksEvery)
	defer again.Stop()
	var changed <-chan struct{} // nil until the time has come
	for err == nil {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			err = errors.Join(s.tellState(ctx), s.stayAlive())
		case <-again.C:
			changed = s.watch.Changed()
		case <-changed:
			err = s.tellTasks(ctx)
			changed = nil
			again.Reset(tasksEvery)
		}
	}
	return err
}

// tellState sends the state if it is another one.
func (s *stream) tellState(ctx context.Context) error {
	state, err := s.console.current.get(ctx, streamedAge)
	if err != nil || bytes.Equal(state, s.state) {
		return err
	}
	s.state = state
	return s.event("state", state)
}

// tellList sends the newest tasks, the latest last.
func (s *stream) tellList(ctx context.Context) error {
	tasks, err := s.console.cfg.Tasks.Newest(ctx, newest)
	if err != nil {
		return err
	}
	slices.Reverse(tasks)
	return s.tell(tasks)
}

func (s *stream) tellTasks(ctx context.Context) error {
	changed, lost := s.watch.Take()
	if err := s.tell(changed); err != nil || !lost {
		return err
	}
	return s.tellList(ctx)
}

func (s *stream) tell(tasks []Task) error {
	var all bytes.Buffer
	for _, task := range tasks {
		body, err := json.Marshal(task)
		if err != nil {
			return err
		}
		frame(&all, "task", body)
	}
	return s.raw(all.String())
}

func (s *stream) event(name string, data []byte) error {
	var b bytes.Buffer
	frame(&b, name, data)
	return s.raw(b.String())
}

// frame makes an event of data, which has no line break in it.
func frame(b *bytes.Buffer, name string, data []byte) {
	b.WriteString("event: " + name + "\ndata: ")
	b.Write(data)
	b.WriteString("\n\n")
}

func (s *stream) stayAlive() error {
	if time.Since(s.spoke) < silence-lookEvery/2 {
		return nil
	}
	return s.raw(": here\n\n")
}

// raw sends text at once. A reader that takes nothing has it fail at the deadline that
// the server gives each write.
func (s *stream) raw(text string) error {
	if text == "" {
		return nil
	}
	s.spoke = time.Now()
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.rc.Flush()
}
