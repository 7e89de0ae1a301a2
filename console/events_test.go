package console_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/console"
)

// A reader is who reads a stream, in a bubble of testing/synctest.
type reader struct {
	header http.Header
	leave  context.CancelFunc
	gone   chan struct{}

	mu  sync.Mutex // guards the fields below
	got strings.Builder
	err error // of the next write
}

func (r *reader) Header() http.Header { return r.header }
func (r *reader) WriteHeader(int)     {}
func (r *reader) FlushError() error   { return nil }

func (r *reader) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return 0, r.err
	}
	return r.got.Write(p)
}

// fail has the next write fail.
func (r *reader) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

// take returns what has come since it was called last.
func (r *reader) take() string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.got.Reset()
	return r.got.String()
}

func (r *reader) ended() bool {
	synctest.Wait()
	select {
	case <-r.gone:
		return true
	default:
		return false
	}
}

// read opens a stream; who opened it leaves at the end of the test.
func (f *fixture) read(t *testing.T, shows session) *reader {
	ctx, leave := context.WithCancel(t.Context())
	r := &reader{header: http.Header{}, leave: leave, gone: make(chan struct{})}
	req := with(request(http.MethodGet, "/console/api/events", "").WithContext(ctx), shows)
	go func() {
		defer close(r.gone)
		f.ServeHTTP(r, req)
	}()
	t.Cleanup(func() { leave(); <-r.gone })
	return r
}

func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, nil)
		f.tasks.newest = []console.Task{{ID: "newer"}, {ID: "older"}}
		r := f.read(t, session{})
		begin := r.take()
		if r.header.Get("Content-Type") != "text/event-stream" || r.header.Get("Content-Security-Policy") == "" {
			t.Errorf("headers are %v", r.header)
		}
		state, older, newer := strings.Index(begin, "event: state\n"), strings.Index(begin, `"older"`), strings.Index(begin, `"newer"`)
		if state < 0 || older < state || newer < older {
			t.Errorf("the stream begins with %q, want the state, and then the tasks, the newest last", begin)
		}
		if !strings.Contains(begin, `"limits":[]`) || !strings.Contains(begin, `"hold":null`) || strings.Contains(begin, "resetsAt") {
			t.Errorf("the state is %s", begin)
		}
		f.tasks.change(false, console.Task{ID: "older", State: "TASK_STATE_COMPLETED", Title: "a\nb"})
		time.Sleep(200 * time.Millisecond)
		if got := r.take(); !strings.Contains(got, "event: task\n") || strings.Count(got, "\n") != 3 || strings.Contains(got, "newer") {
			t.Errorf("a task changed, and the stream said %q", got)
		}
		time.Sleep(3 * time.Second)
		if got := r.take(); got != "" {
			t.Errorf("nothing changed, and the stream said %q", got)
		}
		f.set(func(s *console.State) { s.Queue.Running = 1 })
		time.Sleep(1100 * time.Millisecond)
		if got := r.take(); strings.Count(got, "event: state\n") != 1 || !strings.Contains(got, `"running":1`) {
			t.Errorf("the state changed, and the stream said %q", got)
		}
		time.Sleep(9 * time.Second)
		if got := r.take(); strings.Trim(strings.ReplaceAll(got, ": here\n\n", "x"), "x") != "" || strings.Count(got, ": here") < 2 {
			t.Errorf("in 9 s of silence the stream said %q, want a comment each 4 s", got)
		}
	})
}

// TestStateOncePerSecond: a state that always changes is told once a second, and looked
// at once for all who look.
func TestStateOncePerSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var looks atomic.Int64
		f := open(t, func(cfg *console.Config) {
			cfg.State = func(context.Context) console.State {
				return console.State{Queue: console.Queue{Waiting: int(looks.Add(1))}}
			}
		})
		var readers []*reader
		for range 5 {
			readers = append(readers, f.read(t, session{}))
		}
		time.Sleep(10*time.Second + time.Millisecond)
		for _, r := range readers {
			if n := strings.Count(r.take(), "event: state"); n < 9 || n > 11 {
				t.Errorf("in 10 s a reader was told %d states", n)
			}
			r.leave()
		}
		if n := looks.Load(); n < 9 || n > 12 {
			t.Errorf("five readers had the state looked at %d times in 10 s", n)
		}
		before := looks.Load()
		synctest.Wait()
		time.Sleep(time.Minute)
		if looks.Load() != before || f.tasks.watched() != 0 {
			t.Errorf("nobody looks, and the state was looked at %d times; %d watches are left", looks.Load()-before, f.tasks.watched())
		}
	})
}

// TestBurst: a thousand changes at once are told soon, and one that got lost brings the
// whole list.
func TestBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, nil)
		r := f.read(t, session{})
		r.take()
		for range 10 {
			f.tasks.change(false, make([]console.Task, 100)...)
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(300 * time.Millisecond)
		if n := strings.Count(r.take(), "event: task"); n != 1000 {
			t.Errorf("of 1000 changes %d were told", n)
		}
		f.tasks.mu.Lock()
		f.tasks.newest = []console.Task{{ID: "listed"}}
		f.tasks.mu.Unlock()
		f.tasks.change(true, console.Task{ID: "one"})
		time.Sleep(300 * time.Millisecond)
		if got := r.take(); !strings.Contains(got, "listed") {
			t.Errorf("changes were lost, and the stream said %q, want the list", got)
		}
	})
}

func TestManyStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, nil)
		var readers []*reader
		for range 16 {
			readers = append(readers, f.read(t, session{}))
		}
		synctest.Wait()
		w := f.do(request(http.MethodGet, "/console/api/events", ""))
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("the 17th stream = %d, want 503", w.Code)
		}
		readers[3].leave()
		<-readers[3].gone
		if r := f.read(t, session{}); !strings.Contains(r.take(), "event: state") {
			t.Error("a stream has ended, and there is no room for another")
		}
	})
}

// TestStalledReader: the server fails the write to a reader that takes nothing, which
// ends his stream and nobody else's.
func TestStalledReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, nil)
		stalled, other := f.read(t, session{}), f.read(t, session{})
		stalled.take()
		stalled.fail(os.ErrDeadlineExceeded)
		f.set(func(s *console.State) { s.Queue.Running = 1 })
		time.Sleep(1100 * time.Millisecond)
		if !stalled.ended() || other.ended() || f.tasks.watched() != 1 {
			t.Errorf("stalled ended %v, the other %v, %d watches; want true, false, 1", stalled.ended(), other.ended(), f.tasks.watched())
		}
	})
}

// TestStreamEndsWithItsSession: neither a logout nor the end of the twelve hours leaves
// a stream behind.
func TestStreamEndsWithItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, withToken)
		first, second := f.loggedIn(t), f.loggedIn(t)
		r, late := f.read(t, first), f.read(t, second)
		if r.ended() || late.ended() {
			t.Fatal("a stream ended at once")
		}
		f.do(with(form("/console/logout", ""), first))
		if !r.ended() || late.ended() {
			t.Error("the logout of one should end its stream, and no other")
		}
		time.Sleep(12 * time.Hour)
		if !late.ended() {
			t.Error("the stream went on after its session")
		}
	})
}

func TestTasksThatCannotBeListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, nil)
		f.tasks.err = errors.New("disk full")
		if r := f.read(t, session{}); !r.ended() {
			t.Error("the stream goes on without its tasks")
		}
		if f.tasks.watched() != 0 {
			t.Error("the watch goes on")
		}
	})
}

func TestState(t *testing.T) {
	f := open(t, nil)
	f.set(func(s *console.State) { s.Queue.Contexts = []console.Context{{ContextID: "c"}} })
	var got map[string]any
	if err := json.Unmarshal(f.do(request(http.MethodGet, "/console/api/state", "")).Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"limits", "threads"} {
		if list, ok := got[key].([]any); !ok || len(list) != 0 {
			t.Errorf("%s = %v, want []", key, got[key])
		}
	}
	if waiting := got["queue"].(map[string]any)["contexts"].([]any)[0].(map[string]any)["waiting"]; waiting == nil {
		t.Error("waiting is null, want []")
	}
}

func TestDoctor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, func(cfg *console.Config) {
			cfg.Doctor = func(ctx context.Context) []console.Check {
				<-ctx.Done() // a check that would take for ever
				return []console.Check{{Name: "codex", Message: "cut off", Hint: "try again"}}
			}
		})
		begin := time.Now()
		first := make(chan int)
		go func() { first <- f.do(request(http.MethodPost, "/console/api/doctor", "")).Code }()
		synctest.Wait()
		time.Sleep(30 * time.Second)
		if w := f.do(request(http.MethodPost, "/console/api/doctor", "")); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "5" {
			t.Errorf("a second one at the same time = %d %v, want 429", w.Code, w.Header())
		}
		if code := <-first; code != http.StatusOK || time.Since(begin) != time.Minute {
			t.Errorf("doctor = %d after %v, want 200 after a minute", code, time.Since(begin))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if w := f.do(request(http.MethodPost, "/console/api/doctor", "").WithContext(ctx)); w.Code != http.StatusOK {
			t.Errorf("doctor again = %d, want 200", w.Code)
		}
		if w := f.do(request(http.MethodPost, "/console/api/doctor", "")); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "4" {
			t.Errorf("a second after that = %d %v, want 429", w.Code, w.Header())
		}
	})
}
