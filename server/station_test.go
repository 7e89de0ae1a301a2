package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// A turn is one that a test plays.
type turn struct {
	executor.Job
	observe executor.Observer
}

func (t *turn) say(text string) { t.observe(agent.TextDelta{ItemID: "m", Text: text}) }

func (t *turn) answer(text string) {
	t.observe(agent.Ended{Outcome: agent.Completed, Messages: []agent.Message{{ItemID: "m", Text: text}}})
}

// A station is the server on an engine on a store, all of which can be closed
// and opened again. Its turns are played by the test.
type station struct {
	t      *testing.T
	dir    string
	cfg    Config
	change []func(*Server)
	url    string
	turns  chan *turn
	book   executor.Journal
	engine *tasks.Engine
	close  func()
}

func newStation(t *testing.T, cfg Config, change ...func(*Server)) *station {
	s := &station{t: t, dir: t.TempDir(), cfg: cfg, change: change, turns: make(chan *turn, 16)}
	s.open()
	t.Cleanup(func() { s.close() })
	return s
}

func (s *station) open() {
	s.t.Helper()
	journal, err := store.Open(s.t.Context(), store.Config{Dir: s.dir})
	if err != nil {
		s.t.Fatal(err)
	}
	s.book = tasks.Book(journal)
	s.engine, err = tasks.New(tasks.Config{Runner: s, Journal: journal, Coalesce: time.Millisecond})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.engine.Recover(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	s.cfg.Handler, s.cfg.Registry, s.cfg.Metrics = s.engine, nil, nil
	srv := newServer(s.t, s.cfg)
	for _, f := range s.change {
		f(srv)
	}
	ts := httptest.NewServer(srv.Handler())
	s.url = ts.URL
	s.close = func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // what a test leaves running is not waited for
		_ = s.engine.Close(ctx)
		ts.CloseClientConnections()
		ts.Close()
		if err := journal.Close(); err != nil {
			s.t.Error(err)
		}
	}
}

func (s *station) restart() {
	s.t.Helper()
	s.close()
	s.open()
}

func (s *station) Submit(job executor.Job, observe executor.Observer) (int, error) {
	s.turns <- &turn{job, observe}
	return 0, nil
}

func (s *station) Cancel(context.Context, string) error { return nil }

func (*station) Refuses(executor.Job) error                          { return nil }
func (*station) Steer(string, executor.Job, executor.Observer) error { return executor.ErrNotRunning }
func (*station) Answer(string, agent.Answer) error                   { return executor.ErrNotAsked }
func (*station) Held() string                                        { return "" }

// next starts the next turn, as the given attempt.
func (s *station) next(attempt int) *turn {
	s.t.Helper()
	select {
	case t := <-s.turns:
		if err := s.book.Begin(s.t.Context(), executor.Attempt{Job: t.ID, N: attempt, Conversation: t.Context, Thread: "th"}); err != nil {
			s.t.Fatal(err)
		}
		t.observe(agent.Started{ThreadID: "th", TurnID: fmt.Sprintf("turn %d", attempt), Attempt: attempt})
		return t
	case <-time.After(time.Minute):
		s.t.Fatal("no turn was submitted")
		return nil
	}
}

// begin sends a message and returns its task, whose turn has been started.
func (s *station) begin(messageID string) (a2a.TaskID, *turn) {
	s.t.Helper()
	res, err := s.engine.SendMessage(s.t.Context(), &a2a.SendMessageRequest{
		Message: &a2a.Message{ID: messageID, Role: a2a.MessageRoleUser, Parts: a2a.ContentParts{a2a.NewTextPart("hi")}},
		Config:  &a2a.SendMessageConfig{ReturnImmediately: true},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return res.(*a2a.Task).ID, s.next(1)
}

// A streamDoor is one of the doors that streams come through: each request is a
// method, a path and a body.
type streamDoor struct {
	name      string
	send      func(messageID string) [3]string
	subscribe func(a2a.TaskID) [3]string
}

func bindings() []streamDoor {
	rpc := func(method, params string) [3]string {
		return [3]string{"POST", "/", `{"jsonrpc":"2.0","id":"<1>","method":"` + method + `","params":` + params + `}`}
	}
	v1 := func(id string) string {
		return `{"message":{"messageId":"` + id + `","role":"ROLE_USER","parts":[{"text":"hi"}]}}`
	}
	v0REST := func(id string) [3]string {
		return [3]string{"POST", "/v1/message:stream", `{"message":{"messageId":"` + id + `","role":"ROLE_USER","content":[{"text":"hi"}]}}`}
	}
	return []streamDoor{
		{"v1", func(id string) [3]string { return rpc("SendStreamingMessage", v1(id)) },
			func(id a2a.TaskID) [3]string { return rpc("SubscribeToTask", `{"id":"`+string(id)+`"}`) }},
		{"v0", func(id string) [3]string {
			return rpc("message/stream", `{"message":{"kind":"message","messageId":"`+id+`","role":"user","parts":[{"kind":"text","text":"hi"}]}}`)
		}, func(id a2a.TaskID) [3]string { return rpc("tasks/resubscribe", `{"id":"`+string(id)+`"}`) }},
		{"rest", func(id string) [3]string { return [3]string{"POST", "/message:stream", v1(id)} },
			func(id a2a.TaskID) [3]string { return [3]string{"GET", "/tasks/" + string(id) + ":subscribe", ""} }},
		{"restPost", func(id string) [3]string { return [3]string{"POST", "/message:stream", v1(id)} },
			func(id a2a.TaskID) [3]string { return [3]string{"POST", "/tasks/" + string(id) + ":subscribe", ""} }},
		{"v0REST", v0REST,
			func(id a2a.TaskID) [3]string { return [3]string{"GET", "/v1/tasks/" + string(id) + ":subscribe", ""} }},
		{"v0RESTPost", v0REST,
			func(id a2a.TaskID) [3]string { return [3]string{"POST", "/v1/tasks/" + string(id) + ":subscribe", ""} }},
	}
}

// A frame is an event as it came over the wire.
type frame struct{ id, data string }

// stream makes a request and reads up to n events of its answer, all of them if
// n is 0. It may be called from any goroutine.
func (s *station) stream(req [3]string, after string, n int) (res *http.Response, frames []frame, err error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, req[0], s.url+req[1], strings.NewReader(req[2]))
	if err != nil {
		return nil, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	if res, err = http.DefaultTransport.RoundTrip(r); err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	br := bufio.NewReader(res.Body)
	var f frame
	for n == 0 || len(frames) < n {
		line, err := br.ReadString('\n')
		if err == io.EOF && line == "" && f == (frame{}) {
			return res, frames, nil
		}
		if err != nil {
			return res, frames, fmt.Errorf("%q: %w", line, err)
		}
		field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch {
		case field == "id" && f == (frame{}):
			f.id = value
		case field == "data" && f.data == "":
			f.data = value
		case field == "" && value == "" && f.data != "":
			frames, f = append(frames, f), frame{}
		case line == ": keep-alive\n" || line == "\n" && f == (frame{}):
		default:
			return res, frames, fmt.Errorf("the line %q does not belong there", line)
		}
	}
	return res, frames, nil
}

// read is stream for the test's own goroutine.
func (s *station) read(req [3]string, after string, n int) (*http.Response, []frame) {
	s.t.Helper()
	res, frames, err := s.stream(req, after, n)
	if err != nil {
		s.t.Fatalf("%v after %q: %v", req, after, err)
	}
	return res, frames
}

func ids(frames []frame) string {
	list := make([]string, 0, len(frames))
	for _, f := range frames {
		list = append(list, f.id)
	}
	return strings.Join(list, " ")
}
