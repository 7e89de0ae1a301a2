package fakecodex

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"
)

// raw writes a file to stdout, with the ids in it that it cannot know.
func (x *execution) raw(file, word string) {
	text, err := os.ReadFile(file)
	if err != nil {
		fatal(70, "fakecodex: %v", err)
	}
	x.s.write([]byte(x.ids(word).Replace(string(text))))
}

func (x *execution) ids(word string) *strings.Replacer {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	otherThread, otherTurn := "nothing", "nothing"
	for _, t := range x.s.threads {
		if word != "" && t != x.t && t.running != nil && strings.Contains(t.running.text, word) {
			otherThread, otherTurn = t.ID, t.active.ID
		}
	}
	return strings.NewReplacer("OTHERTHREAD", otherThread, "OTHERTURN", otherTurn, "THREAD", x.t.ID, "TURN", x.turn.ID, "CALL", string(x.s.lastCall))
}

// until waits for a file, and has its text come back.
func (x *execution) until(file string) {
	for x.ctx.Err() == nil {
		text, err := os.ReadFile(file)
		switch {
		case err == nil:
			x.s.mu.Lock()
			x.text = string(text)
			x.s.mu.Unlock()
			return
		case !errors.Is(err, fs.ErrNotExist):
			fatal(70, "fakecodex: %v", err)
		}
		x.sleep(5 * time.Millisecond)
	}
}
