package server

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/server/bounds"
	"github.com/Molecule-AI/molecule-codex-runtime/server/guard"
)

const testAnswers = 2 << 20

// A library has tasks of the size that their ids say, in KiB.
type library struct {
	*fakeHandler
	opened atomic.Int32
	hold   chan struct{} // not nil: what GetTask waits for
}

func (l *library) task(id a2a.TaskID) *a2a.Task {
	var size int
	_, _ = fmt.Sscan(string(id), &size)
	return &a2a.Task{ID: id, Status: a2a.TaskStatus{State: a2a.TaskStateCompleted}, Artifacts: []*a2a.Artifact{
		{ID: "a", Parts: a2a.ContentParts{a2a.NewTextPart(strings.Repeat("x", size<<10))}},
	}}
}

func (l *library) GetTask(_ context.Context, req *a2a.GetTaskRequest) (*a2a.Task, error) {
	l.opened.Add(1)
	if l.hold != nil {
		<-l.hold
	}
	return l.task(req.ID), nil
}

func (l *library) Resume(_ context.Context, req *a2a.SubscribeToTaskRequest, _ string) guard.Events {
	return placed(func(yield func(a2a.Event, error) bool) { yield(l.task(req.ID), nil) })
}

// reader asks for something, under lines of a header, and reads nothing of the answer.
func (r *running) reader(t *testing.T, path string, header ...string) net.Conn {
	t.Helper()
	conn, err := r.dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	lines := append([]string{"GET " + path + " HTTP/1.1", "Host: localhost"}, header...)
	if _, err := fmt.Fprint(conn, strings.Join(lines, "\r\n"), "\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	return conn
}

// TestBoundsOfAnswers: large answers that are being read share a room, in which one that
// finds none is refused by each way to ask for it; small ones need none, and a reader who
// goes away, or stalls, makes room again.
func TestBoundsOfAnswers(t *testing.T) {
	longtest.Mark(t)
	for _, path := range []string{"/tasks/1500", "/tasks/1500:subscribe", "/v1/tasks/1500"} {
		t.Run(strings.ReplaceAll(path, "/", "_"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := serveInBubble(t, Config{Handler: &library{fakeHandler: &fakeHandler{}}, MaxAnswering: testAnswers, KeepAlive: time.Hour}) // a comment would wait for a lock, which synctest does not know to be a wait
				left := func() int64 {
					synctest.Wait()
					return r.srv.answers.Room.Left()
				}
				slow := r.reader(t, path)
				if n := left(); n > 1<<20 {
					t.Fatalf("%d bytes are left", n)
				}
				refusedWhileRead(t, r)
				if a := r.do(t, "GET", "/tasks/10", ""); a.status != http.StatusOK {
					t.Errorf("a small one: %d %s", a.status, a.body)
				}
				_ = slow.Close()
				if n := left(); n != testAnswers {
					t.Errorf("the reader is gone, and %d bytes are left", n)
				}
				stalls := r.reader(t, path)
				defer stalls.Close()
				if left() == testAnswers {
					t.Error("the second reader has taken nothing")
				}
				time.Sleep(2 * r.srv.cfg.WriteTimeout)
				if n := left(); n != testAnswers {
					t.Errorf("the reader stalls, and %d bytes are left", n)
				}
				for _, size := range []int{1500, 3000} {
					if a := r.do(t, "GET", fmt.Sprint("/tasks/", size), ""); a.status != http.StatusOK || len(a.body) < size<<10 {
						t.Errorf("%d KiB alone: %d, %d bytes", size, a.status, len(a.body))
					}
				}
				if n := left(); n != testAnswers {
					t.Errorf("at the end %d bytes are left", n)
				}
			})
		})
	}
}

// refusedWhileRead asks for a large answer in each way.
func refusedWhileRead(t *testing.T, r *running) {
	t.Helper()
	const text = "too many large answers are being read at once"
	for _, path := range []string{"/tasks/1500", "/v1/tasks/1500", "/tasks/1500:subscribe"} {
		if a := r.do(t, "GET", path, ""); a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" || !strings.Contains(a.body, text) {
			t.Errorf("%s: %d %v %.200s", path, a.status, a.header, a.body)
		}
	}
	for _, method := range []string{"GetTask", "tasks/get", "SubscribeToTask", "tasks/resubscribe"} {
		a := r.do(t, "POST", "/", `{"jsonrpc":"2.0","id":7,"method":"`+method+`","params":{"id":"1500"}}`)
		if a.status != http.StatusOK || !strings.Contains(a.body, "-32000") || !strings.Contains(a.body, text) || !strings.Contains(a.body, `"id":7`) {
			t.Errorf("%s: %d %.200s", method, a.status, a.body)
		}
	}
}

// TestAnswersAreMadeInTurn: of the answers whose size is not known yet there are a few at a
// time, and a caller who goes away while its turn has not come is not waited for.
func TestAnswersAreMadeInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &library{fakeHandler: &fakeHandler{}, hold: make(chan struct{})}
		r := serveInBubble(t, Config{Handler: l, MaxAnswering: testAnswers})
		for range bounds.MostBuilt {
			defer r.reader(t, "/tasks/1").Close()
		}
		gone := r.reader(t, "/tasks/1")
		last := r.reader(t, "/tasks/1")
		defer last.Close()
		if n := l.opened.Load(); n != bounds.MostBuilt {
			t.Errorf("%d are made at once", n)
		}
		_ = gone.Close()
		synctest.Wait()
		close(l.hold)
		if _, err := io.ReadFull(last, make([]byte, 12)); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if n := l.opened.Load(); n != bounds.MostBuilt+1 {
			t.Errorf("%d were made in all", n)
		}
	})
}

// sendAgain are the calls of each door that send message m1 again.
func sendAgain() map[string][2]string {
	const message = `{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hi"}]}}`
	rpc := func(method, params string) string {
		return `{"jsonrpc":"2.0","id":"1","method":"` + method + `","params":` + params + `}`
	}
	return map[string][2]string{
		"1.0":         {"/", rpc("SendMessage", message)},
		"1.0 stream":  {"/", rpc("SendStreamingMessage", message)},
		"0.3":         {"/", rpc("message/send", `{"message":{"kind":"message","messageId":"m1","role":"user","parts":[{"kind":"text","text":"hi"}]}}`)},
		"REST":        {"/message:send", message},
		"REST stream": {"/message:stream", message},
	}
}

// TestEndedTasksAreLoadedInTurn: a message that is sent again is answered with its task, and
// one that has ended is read in the turn in which the answer is made.
func TestEndedTasksAreLoadedInTurn(t *testing.T) {
	for name, call := range sendAgain() {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e, journal := engineOn(t)
				r := serveInBubble(t, Config{Handler: e, KeepAlive: time.Hour})
				first := sendAgain()["1.0"]
				if a := r.do(t, "POST", first[0], first[1]); !strings.Contains(a.body, "COMPLETED") {
					t.Fatalf("%d %s", a.status, a.body)
				}
				before := journal.read.Load()
				for range bounds.MostBuilt {
					r.srv.answers.Turns <- struct{}{}
				}
				answers := make(chan answer, 1)
				go func() { answers <- r.do(t, "POST", call[0], call[1]) }()
				synctest.Wait()
				if n := journal.read.Load() - before; n != 0 {
					t.Errorf("%d tasks are read before their turn", n)
				}
				<-r.srv.answers.Turns
				if a := <-answers; !strings.Contains(strings.ToUpper(a.body), "COMPLETED") {
					t.Errorf("%d %s", a.status, a.body)
				}
				if n := journal.read.Load() - before; n != 1 {
					t.Errorf("the task was read %d times", n)
				}
				synctest.Wait()
				if n := len(r.srv.answers.Turns); n != bounds.MostBuilt-1 {
					t.Errorf("%d turns are taken, want those of the others", n)
				}
			})
		})
	}
}

// TestReaderOfTheRestKeepsNoTurn: a stream that goes on behind what its reader has seen of a
// task has its turn while that is read, and not while the reader takes its time.
func TestReaderOfTheRestKeepsNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, journal := engineOn(t)
		r := serveInBubble(t, Config{Handler: e, KeepAlive: time.Hour})
		calls := sendAgain()
		r.do(t, "POST", calls["1.0"][0], calls["1.0"][1])
		before := journal.read.Load()
		conn, err := r.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		body := calls["REST stream"][1]
		if _, err := fmt.Fprintf(conn, "POST /message:stream HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nLast-Event-ID: 1.1\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := journal.read.Load() - before; n != 1 {
			t.Errorf("the task was read %d times", n)
		}
		if n := len(r.srv.answers.Turns); n != 0 {
			t.Errorf("%d turns are taken by a reader who does not read", n)
		}
	})
}
