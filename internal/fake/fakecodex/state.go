package fakecodex

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// A server is one run of the fake.
type server struct {
	*wire
	script
	dir  string // of state; or empty
	turn step   // what a turn does that names no action

	mu       sync.Mutex // guards the fields below and all threads
	threads  map[string]*thread
	archived map[string]bool         // threads by their ids
	asked    map[string]chan message // our requests that wait, by their ids
	lastID   int
	lastAsk  int
	lastCall json.RawMessage // the id of the last call, which has been answered
	deaf     bool
	refused  bool // refuse-first has refused
}

func newServer(steps script) *server {
	s := &server{
		wire: &wire{}, script: steps, turn: step{name: "echo"},
		threads: map[string]*thread{}, archived: map[string]bool{}, asked: map[string]chan message{},
	}
	if state, ok := s.step("state"); ok {
		s.dir = state.arg(0)
	}
	if _, once := s.step("once"); once && !s.first() {
		s.script = script{{"state", []string{s.dir}}}
	}
	if turn, ok := s.step("turn"); ok {
		s.turn = step{turn.arg(0), turn.args[1:]}
	}
	_, s.noise = s.step("noise")
	_, s.stringAnswers = s.step("string-answers")
	return s
}

// first reports whether this is the first run in the state directory.
func (s *server) first() bool {
	f, err := os.OpenFile(filepath.Join(s.dir, "once"), os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = f.Close()
	}
	return err == nil
}

// newIDLocked returns an id that no other run makes.
func (s *server) newIDLocked(kind string) string {
	s.lastID++
	return fmt.Sprintf("%s-%d-%d-%d", kind, os.Getpid(), time.Now().UnixNano(), s.lastID)
}

// tellLocked sends a notification of a thread, if anybody follows it.
func (s *server) tellLocked(t *thread, method string, params object) {
	if t.Subscribed {
		params["threadId"] = t.ID
		s.notify(method, params)
	}
}

// makeQueue makes the files of a queue, which codex makes when it starts, and writes when something is
// put into it.
func makeQueue(home string) {
	if home == "" {
		return
	}
	for _, name := range []string{"queue_1.sqlite", "queue_1.sqlite-wal"} {
		file, err := os.OpenFile(filepath.Join(home, name), os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			fatal(1, "fakecodex: %v", err)
		}
		_ = file.Close()
	}
}
