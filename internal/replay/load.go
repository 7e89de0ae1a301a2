package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/wirelog"
)

// A record is a file, as one or several programs have written it.
type record struct {
	runs []*run
	cut  int // the number of the last line, if that was cut off; else 0
}

// A run is what one program has recorded, from its start.
type run struct {
	wirelog.Run
	entries []*entry
}

// An entry is a line of the record with what it says to whom.
type entry struct {
	wirelog.Line
	envelope
	loose bool // a call that only looks, or the answer to one
}

// An envelope is a message of the protocol.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func (e *envelope) isCall() bool   { return e.Method != "" && e.ID != nil }
func (e *envelope) isAnswer() bool { return e.Method == "" && e.ID != nil }

// thread returns the thread that a call is about.
func (e *envelope) thread() string {
	var p struct {
		ThreadID string `json:"threadId"`
	}
	_ = json.Unmarshal(e.Params, &p) // then it is about none
	return p.ThreadID
}

// describe names a call for people.
func (e *envelope) describe() string {
	if t := e.thread(); t != "" {
		return e.Method + " of thread " + shown(t)
	}
	return e.Method
}

// load reads a record.
func load(from io.Reader) (*record, error) {
	text, err := io.ReadAll(from)
	if err != nil {
		return nil, err
	}
	lines, cut, err := wirelog.Read(bytes.NewReader(strange(text)))
	if err != nil {
		return nil, err
	}
	rec := &record{cut: cut}
	for _, l := range lines {
		e := &entry{Line: l}
		if l.Event == wirelog.EventRun {
			var r wirelog.Run
			if err := json.Unmarshal(l.Data, &r); err != nil {
				return nil, &wirelog.DamagedError{Line: l.Number, Err: err}
			}
			if !r.Continues || len(rec.runs) == 0 {
				rec.runs = append(rec.runs, &run{Run: r})
			}
			continue
		}
		if message := append(append([]byte(nil), l.Send...), l.Receive...); len(message) > 0 {
			_ = json.Unmarshal(message, &e.envelope) // codex may have printed any JSON
		}
		last := rec.runs[len(rec.runs)-1]
		last.entries = append(last.entries, e)
	}
	for _, r := range rec.runs {
		r.findLoose()
	}
	return rec, nil
}

// strangePrefix begins the ids that threads have in a replay: no time that codex
// makes ids of begins like that.
const strangePrefix = "ffffffff"

// threadID finds the ids of threads, wherever a record has them.
const threadID = `"(?:threadId|thread|sessionId|ThreadID|Thread|parentThreadId|receiverThreadId|senderThreadId)":(?:\{"id":)?"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"`

// strange gives the threads of a record other ids.
func strange(text []byte) []byte {
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(threadID).FindAllSubmatch(text, -1) {
		ids[string(m[1])] = true
	}
	if len(ids) == 0 {
		return text
	}
	pairs := make([]string, 0, 2*len(ids))
	for id := range ids {
		pairs = append(pairs, id, strangePrefix+id[len(strangePrefix):])
	}
	// The first eight letters are gone: people are shown the rest.
	return []byte(strings.NewReplacer(pairs...).Replace(string(text)))
}

// shown is the id of a thread for people.
func shown(id string) string {
	if rest, ok := strings.CutPrefix(id, strangePrefix+"-"); ok {
		return "…" + rest
	}
	return id
}

const methodInterrupt = "turn/interrupt"

// looks reports whether a method only looks: when the program calls it depends on
// time, and nothing hangs on it.
func looks(method string) bool {
	switch method {
	case "initialize", "thread/start", "thread/resume", "thread/fork", "thread/compact/start",
		"turn/start", "turn/steer", "turn/interrupt", "account/login/start", "account/login/cancel":
		return false
	}
	return true
}

// findLoose marks the calls that only look, and their answers.
func (r *run) findLoose() {
	calls, stops := map[string]bool{}, map[string]bool{}
	for _, e := range r.entries {
		switch {
		case e.Event == wirelog.EventChild:
			clear(calls)
		case e.Send != nil && e.isCall():
			e.loose = looks(e.Method)
			if e.Method == methodInterrupt { // a turn that does not end is interrupted again
				e.loose = stops[string(e.Params)]
				stops[string(e.Params)] = true
			}
			calls[string(e.ID)] = e.loose
		case e.Receive != nil && e.isAnswer():
			e.loose = calls[string(e.ID)]
		}
	}
}

// decode reads what an event has to say.
func decode[T any](e *entry) (data T, err error) {
	if err = json.Unmarshal(e.Data, &data); err != nil {
		err = fmt.Errorf("line %d: the event %q cannot be read: %w", e.Number, e.Event, err)
	}
	return data, err
}
