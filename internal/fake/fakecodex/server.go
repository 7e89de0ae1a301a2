package fakecodex

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A server is one run of the fake.
type server struct {
	*wire
	steps []step // what concerns the whole run
	dir   string // of state; or empty
	turn  step   // what a turn does that names no action

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

func newServer(steps []step) *server {
	s := &server{
		wire: &wire{}, steps: steps, turn: step{name: "echo"},
		threads: map[string]*thread{}, archived: map[string]bool{}, asked: map[string]chan message{},
	}
	if state, ok := s.step("state"); ok {
		s.dir = state.arg(0)
	}
	if _, once := s.step("once"); once && !s.first() {
		s.steps = []step{{"state", []string{s.dir}}}
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

func (s *server) step(name string) (step, bool) {
	for _, step := range s.steps {
		if step.name == name {
			return step, true
		}
	}
	return step{}, false
}

// about returns the step of that name which concerns method.
func (s *server) about(name, method string) (step, bool) {
	for _, step := range s.steps {
		if step.name == name && step.arg(0) == method {
			return step, true
		}
	}
	return step{}, false
}

func (s *server) run() int {
	if exit, ok := s.step("exit"); ok {
		fatal(exit.num(0, 1), "fakecodex: CODEX_HOME points to a path that does not exist")
	}
	if _, ok := s.step("ignore-term"); ok {
		signal.Ignore(syscall.SIGTERM)
	}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			fmt.Fprintf(os.Stderr, "fakecodex: %v\n", err)
			continue
		}
		if s.isDeaf() {
			forever()
		}
		s.receive(m)
	}
	if _, ok := s.step("ignore-end"); ok {
		forever()
	}
	if slow, ok := s.step("slow-end"); ok {
		_ = os.Stdout.Close()
		time.Sleep(slow.ms(0))
	}
	return 0
}

// forever waits until somebody ends the process. A bare select would be
// reported as a deadlock.
func forever() {
	for {
		time.Sleep(time.Hour)
	}
}

func (s *server) isDeaf() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deaf
}

// receive handles one message of the client.
func (s *server) receive(m message) {
	if m.Method == "" {
		s.answered(m)
		return
	}
	if m.ID == nil {
		return // initialized
	}
	if _, ok := s.about("no-answer", m.Method); ok {
		return
	}
	if refuse, ok := s.about("refuse", m.Method); ok {
		s.refuse(m.ID, refuse.rest(1))
		return
	}
	if refuse, ok := s.about("refuse-first", m.Method); ok && !s.refused {
		s.refused = true
		s.refuse(m.ID, refuse.rest(1))
		return
	}
	if long, ok := s.about("long", m.Method); ok {
		s.answer(m.ID, object{"filler": strings.Repeat("x", long.num(1, 0))})
		return
	}
	if slow, ok := s.about("slow", m.Method); ok {
		time.AfterFunc(slow.ms(1), func() { s.call(m) })
		return
	}
	s.call(m)
}

// params is every field that a method of ours reads.
type params struct {
	ThreadID       string `json:"threadId"`
	TurnID         string `json:"turnId"`
	ExpectedTurnID string `json:"expectedTurnId"`
	ProcessID      string `json:"processId"`
	ClientID       string `json:"clientUserMessageId"`
	Limit          int    `json:"limit"`
	ItemsView      string `json:"itemsView"`
	Input          []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"input"`
}

func (p params) text() string {
	var texts []string
	for _, input := range p.Input {
		if input.Type == "text" {
			texts = append(texts, input.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// call answers a call of the client.
func (s *server) call(m message) {
	var p params
	if err := json.Unmarshal(m.Params, &p); err != nil && m.Params != nil {
		s.refuse(m.ID, "Invalid request: "+err.Error())
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastCall = m.ID
	var result any
	var err error
	switch m.Method {
	case "thread/loaded/list":
		result = object{"data": []string{}}
	case "initialize":
		result = object{"userAgent": "fakecodex/0.0.0", "codexHome": s.dir, "platformFamily": "unix", "platformOs": "linux"}
	case "account/read":
		result = object{"account": nil, "requiresOpenaiAuth": false}
	case "thread/start", "thread/resume", "thread/unsubscribe", "thread/archive", "thread/unarchive", "thread/turns/list",
		"thread/queue/list", "thread/backgroundTerminals/list", "thread/backgroundTerminals/terminate":
		result, err = s.threadCall(m.Method, p)
	case "turn/start":
		s.startTurn(m.ID, p)
		return
	case "turn/steer":
		result, err = s.steer(p)
	case "turn/interrupt":
		s.interrupt(m.ID, p)
		return
	default:
		err = fmt.Errorf("Invalid request: unknown variant `%s`", m.Method) //nolint:staticcheck // codex's own words
	}
	if err != nil {
		s.refuse(m.ID, err.Error())
		return
	}
	if _, mute := s.about("unanswered", m.Method); mute {
		return
	}
	s.answer(m.ID, result)
	if m.Method == "thread/start" {
		s.notify("thread/started", object{"thread": result.(object)["thread"]})
	}
}
