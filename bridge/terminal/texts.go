package terminal

import (
	"bytes"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// texts are those of a task's artifacts, as far as they were written. A text that comes again,
// since the runtime was started again or its events are gone, is written no second time.
type texts struct {
	of      map[a2a.ArtifactID]*told
	writing a2a.ArtifactID
	line    string // of that one, the last line as far as it has come
}

// told is what has come of a text.
type told struct {
	now   []byte
	ahead []byte // what was written, where that is not known to be what comes again; else nil
}

// see takes what has come of an artifact, and returns the lines that are whole by it.
func (t *texts) see(id a2a.ArtifactID, text string, adds bool) (whole []string) {
	if t.of == nil {
		t.of = map[a2a.ArtifactID]*told{}
	}
	if t.of[id] == nil {
		t.of[id] = &told{}
	}
	more, anew := t.of[id].see(text, adds)
	if anew || more != "" && t.writing != id {
		whole = t.end()
		t.writing = id
	}
	lines := strings.Split(t.line+more, "\n")
	t.line = lines[len(lines)-1]
	return append(whole, lines[:len(lines)-1]...)
}

// see returns what of the text is to be written, and whether that is another one than was.
func (t *told) see(text string, adds bool) (more string, anew bool) {
	if !adds {
		if t.ahead == nil {
			t.ahead = t.now
		}
		t.now = nil
	}
	t.now = append(t.now, text...)
	switch {
	case t.ahead == nil:
		return text, false
	case bytes.HasPrefix(t.ahead, t.now) && len(t.now) < len(t.ahead):
		return "", false
	case bytes.HasPrefix(t.now, t.ahead):
		more = string(t.now[len(t.ahead):])
	default:
		more, anew = string(t.now), true
	}
	t.ahead = nil
	return more, anew
}

// open is the line that has not ended yet.
func (t *texts) open() string { return t.line }

// leave says that only the end of the open line is still to be written.
func (t *texts) leave(end string) { t.line = end }

// end ends the open line.
func (t *texts) end() (whole []string) {
	if t.line != "" {
		whole = []string{t.line}
	}
	t.line, t.writing = "", ""
	return whole
}
