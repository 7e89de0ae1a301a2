package fakecodex

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

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
	case "environment/add", "environment/info": // none is connected to
		result = object{}
	case "thread/loaded/list":
		result = object{"data": []string{}}
	case "initialize":
		home := cmp.Or(s.dir, os.Getenv("CODEX_HOME"))
		makeQueue(home)
		result = object{"userAgent": "fakecodex/0.0.0", "codexHome": home, "platformFamily": "unix", "platformOs": "linux"}
	case "account/read":
		result = object{"account": nil, "requiresOpenaiAuth": false}
	case "thread/start", "thread/resume", "thread/unsubscribe", "thread/archive", "thread/unarchive", "thread/turns/list",
		"thread/queue/list", "thread/backgroundTerminals/list", "thread/backgroundTerminals/terminate":
		result, err = s.threadCallLocked(m.Method, p)
	case "turn/start":
		s.startTurnLocked(m.ID, p)
		return
	case "turn/steer":
		result, err = s.steer(p)
	case "turn/interrupt":
		s.interruptLocked(m.ID, p)
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
