package forward

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"
)

// errLong reports an answer that is longer than it may be.
var errLong = errors.New("the answer is longer than any model's")

// A talk is what is said by a relay: calls, one after the other, and events in answer to each.
type talk struct {
	recorder *recorder
	spoke    func() // is called for the first word of the endpoint
	// ignored is called where the endpoint goes on with an answer that codex has interrupted. If it
	// reports true, it is called again, later.
	ignored func() (again bool)

	mu       sync.Mutex    // guards the fields below
	next     Call          // what is known of the next call
	took     time.Duration // how long the connection took that the call under way is the first on
	asked    time.Time     // when something first was
	answered bool          // and was something
	left     int           // how many bytes the answer may still have
	event    event         // the one that is under way
	owed     bool          // an answer: something was asked, and the end has not come
	waits    *wait         // for an interruption to be heeded; nil where none waits
}

// An event is what is told of an answer by one message.
type event struct {
	bytes  int
	ends   bool // the answer
	heeds  bool // it says that the interruption is accepted
	status int  // of one that ends it, as HTTP has it
}

// ask heeds a piece of what codex says.
func (t *talk) ask(piece []byte, at place) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at.first {
		switch kind := typeOf(piece); kind {
		case "response.create", "": // a long message may have its type behind its first piece
			t.beginLocked()
		case "response.interrupt":
			t.interruptLocked()
		}
	}
	// codex shows ahead what a conversation begins with, so that the first turn sends less.
	if bytes.Contains(piece, []byte(`"generate":false`)) {
		t.recorder.drop()
		t.next.Connect = t.took
	}
	return nil
}

func (t *talk) beginLocked() {
	if t.left = mostAnswer; t.asked.IsZero() {
		t.asked = time.Now()
	}
	t.heededLocked()
	t.owed = true
	t.recorder.begin(t.next)
	t.took, t.next.Connect = t.next.Connect, 0
}

// answer heeds a piece of what the endpoint says.
func (t *talk) answer(piece []byte, at place) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at.first {
		if !t.answered {
			t.answered = true
			t.spoke()
		}
		t.recorder.first()
		switch t.event = read(piece); {
		case t.event.ends:
			t.owed = false
			t.heededLocked()
		case t.event.heeds:
			t.acceptedLocked()
		}
	}
	t.event.bytes += len(piece)
	if t.left -= len(piece); t.left < 0 || t.event.bytes > mostRefusal && t.event.status >= http.StatusBadRequest {
		return errLong
	}
	if t.event.ends {
		t.recorder.keep(piece)
		if at.last {
			t.recorder.end(t.event.status)
		}
	}
	return nil
}

// mute reports whether something was asked and nothing answered, although there was time: codex has not
// left before, as it does where a turn is interrupted.
func (t *talk) mute(left bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.asked.IsZero() && !t.answered && (!left || time.Since(t.asked) >= stalledTime)
}

// read reads the first piece of an event. Those that there are many of are told by how they begin.
func read(piece []byte) event {
	if kind := typeAhead(piece); kind != "" && kind != "error" {
		return kindOf(kind, http.StatusOK)
	}
	var said struct {
		Type   string `json:"type"`
		Status int    `json:"status"`
	}
	if json.Unmarshal(piece, &said) == nil {
		return kindOf(said.Type, said.Status)
	}
	return begun(piece)
}

// typeOf is the type of a message, by its first piece; empty where that does not say.
func typeOf(piece []byte) string {
	if kind := typeAhead(piece); kind != "" {
		return kind
	}
	var said struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(piece, &said)
	return said.Type
}

// typeAhead is the type of a message that begins with it, as nearly all do.
func typeAhead(piece []byte) string {
	rest, _ := bytes.CutPrefix(piece, []byte(`{"type":"`))
	if len(rest) == len(piece) {
		return ""
	}
	kind, _, _ := bytes.Cut(rest[:min(len(rest), 40)], []byte(`"`))
	return string(kind)
}

// begun reads what there is of a longer event. Its type may come later: what has an error in it first is one.
func begun(piece []byte) event {
	in := json.NewDecoder(bytes.NewReader(piece))
	if _, err := in.Token(); err != nil {
		return event{}
	}
	for {
		name, err := in.Token()
		if err != nil {
			return event{}
		}
		var kind string
		switch name {
		case "error":
			return kindOf("error", http.StatusBadRequest)
		case "type":
			_ = in.Decode(&kind)
			return kindOf(kind, http.StatusBadRequest)
		}
		if in.Decode(&json.RawMessage{}) != nil {
			return event{}
		}
	}
}

func kindOf(kind string, status int) event {
	switch kind {
	case "response.completed", "response.incomplete", "response.failed":
		return event{ends: true, status: http.StatusOK}
	case "error":
		return event{ends: true, status: max(status, http.StatusBadRequest)}
	case "response.interrupt.accepted":
		return event{heeds: true}
	}
	return event{}
}
