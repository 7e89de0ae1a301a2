package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/tmaxmax/go-sse"
)

const (
	// beginning is the place before a task's first event.
	beginning = "1.0"
	// silence is how long nothing may come on a stream, not even a comment: the
	// runtime sends one each 4 s.
	silence = 20 * time.Second
	// largestEvent bounds one event of a stream.
	largestEvent = 64 << 20
)

// errSilent is why a stream was cut that was silent for too long.
var errSilent = errors.New("the stream has gone silent")

// An event is one of a task's stream.
type event struct {
	id    string
	event a2a.Event
}

// subscribe yields the events of a task behind the one with the id after, which may be
// empty. It ends with the stream; with an error if that broke, or was refused. Opened is
// called when the runtime has begun to answer, if it is not nil.
func (c *Client) subscribe(ctx context.Context, task a2a.TaskID, after string, opened func()) iter.Seq2[event, error] {
	return func(yield func(event, error) bool) {
		ctx, cut := context.WithCancelCause(ctx)
		defer cut(nil)
		header := http.Header{"Accept": {"text/event-stream"}}
		if after != "" {
			header.Set("Last-Event-ID", after)
		}
		res, err := c.post(ctx, "SubscribeToTask", a2a.SubscribeToTaskRequest{ID: task}, header)
		if err != nil {
			yield(event{}, err)
			return
		}
		defer res.Body.Close()
		if !streams(res) {
			if _, err := c.read(res); err != nil {
				yield(event{}, err)
			}
			return
		}
		if opened != nil {
			opened()
		}
		alive := time.AfterFunc(silence, func() { cut(errSilent) })
		defer alive.Stop()
		for raw, err := range sse.Read(&pulse{res.Body, alive}, &sse.ReadConfig{MaxEventSize: largestEvent}) {
			if err != nil {
				yield(event{}, &UnreachableError{c.cfg.URL, orCause(ctx, err)})
				return
			}
			e, err := read(raw)
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

func orCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// A pulse puts the timer off with all that it reads.
type pulse struct {
	io.Reader
	alive *time.Timer
}

func (p *pulse) Read(into []byte) (int, error) {
	n, err := p.Reader.Read(into)
	p.alive.Reset(silence)
	return n, err
}

// read takes an event out of the response that carries it.
func read(raw sse.Event) (event, error) {
	var r response
	if err := json.Unmarshal([]byte(raw.Data), &r); err != nil {
		return event{}, fmt.Errorf("read an event of the runtime: %w", err)
	}
	result, err := r.result()
	if err != nil {
		return event{}, err
	}
	var carried a2a.StreamResponse
	if err := json.Unmarshal(result, &carried); err != nil {
		return event{}, fmt.Errorf("read an event of the runtime: %w", err)
	}
	return event{raw.LastEventID, carried.Event}, whole(&carried)
}
