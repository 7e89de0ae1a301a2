package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/server/bounds"
	"github.com/Molecule-AI/molecule-codex-runtime/server/guard"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/feed"
)

// A backlog is what readers have missed: each event when it may come.
type backlog struct {
	*fakeHandler
	events []*feed.Event
	next   chan struct{} // what a reader waits for before each event but the first
}

func (b *backlog) Resume(ctx context.Context, _ *a2a.SubscribeToTaskRequest, _ string) guard.Events {
	return func(yield func(*feed.Event, error) bool) {
		for i, e := range b.events {
			if i > 0 {
				select {
				case <-b.next:
				case <-ctx.Done():
					return
				}
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// missed is an event of so many KiB.
func missed(size int) *feed.Event {
	return &feed.Event{ID: "1.2", Event: &a2a.TaskArtifactUpdateEvent{TaskID: "T", ContextID: "C",
		Artifact: &a2a.Artifact{ID: "A", Parts: a2a.ContentParts{a2a.NewTextPart(strings.Repeat("x", size<<10))}}}}
}

// left is what the room for answers has when all that is done is done.
func (r *running) left() int64 {
	synctest.Wait()
	return r.srv.answers.Room.Left()
}

// TestRoomForReplays: large events that are made for one reader share the room of answers,
// and those that all readers have need none.
func TestRoomForReplays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backlog{fakeHandler: &fakeHandler{}, events: []*feed.Event{missed(1500)}}
		r := serveInBubble(t, Config{Handler: b, MaxAnswering: testAnswers, KeepAlive: time.Hour})
		slow := r.reader(t, "/tasks/T:subscribe")
		if n := r.left(); n > 1<<20 {
			t.Fatalf("%d bytes are left", n)
		}
		for _, path := range []string{"/tasks/T:subscribe", "/v1/tasks/T:subscribe"} {
			a := r.do(t, "GET", path, "")
			if a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" || !strings.Contains(a.body, "too many large answers are being read at once") {
				t.Errorf("%s: %d %v %.200s", path, a.status, a.header, a.body)
			}
		}
		shared := missed(1500)
		shared.Shared = true
		for _, e := range []*feed.Event{shared, missed(10)} {
			b.events = []*feed.Event{e}
			if a := r.do(t, "GET", "/tasks/T:subscribe", ""); a.status != http.StatusOK || !strings.Contains(a.body, "xxx") {
				t.Errorf("shared %t: %d %.200s", e.Shared, a.status, a.body)
			}
		}
		_ = slow.Close()
		if n := r.left(); n != testAnswers {
			t.Errorf("the reader is gone, and %d bytes are left", n)
		}
	})
}

// TestRoomForWhatAStreamHolds: what a stream has in memory beside an event counts until the
// next one is asked for, and while that is waited for.
func TestRoomForWhatAStreamHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backlog{fakeHandler: &fakeHandler{}, next: make(chan struct{}), events: []*feed.Event{missed(900), missed(10), missed(1)}}
		b.events[0].Holds, b.events[1].Holds = 1<<20, 1<<19
		r := serveInBubble(t, Config{Handler: b, MaxAnswering: testAnswers, KeepAlive: time.Hour})
		reader := r.reader(t, "/tasks/T:subscribe")
		defer reader.Close()
		if n, most := r.left(), int64(testAnswers-1<<20-900<<10+bounds.FreeBody); n > most {
			t.Errorf("with the first event %d bytes are left, want at most %d", n, most)
		}
		go func() { _, _ = io.Copy(io.Discard, reader) }()
		for i, e := range b.events {
			if i > 0 {
				b.next <- struct{}{}
			}
			if n, want := r.left(), int64(testAnswers-max(0, e.Holds-bounds.FreeBody)); n != want {
				t.Errorf("after event %d %d bytes are left, want %d", i+1, n, want)
			}
		}
	})
}

// TestBoundsOfReadersWhoComeBack: readers who come back to a task and take nothing have in memory what the
// room lets them.
func TestBoundsOfReadersWhoComeBack(t *testing.T) {
	longtest.Mark(t)
	synctest.Test(t, func(t *testing.T) {
		e := engine(t)
		task, err := e.SendMessage(t.Context(), &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("say "+strings.Repeat("x", 1000<<10)))})
		if err != nil {
			t.Fatal(err)
		}
		r := serveInBubble(t, Config{Handler: e, MaxAnswering: testAnswers, KeepAlive: time.Hour})
		path := fmt.Sprintf("/tasks/%s:subscribe", task.TaskInfo().TaskID)
		before := heap()
		for range 16 {
			defer r.reader(t, path, "Last-Event-ID: 1.1").Close()
		}
		if n := r.left(); n > 1<<20 {
			t.Errorf("%d bytes are left", n)
		}
		if n := heap() - before; n > 4*testAnswers {
			t.Errorf("%d KiB are in memory", n>>10)
		}
	})
}
