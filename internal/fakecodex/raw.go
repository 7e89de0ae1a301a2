package fakecodex

import (
	"os"
	"strings"
)

// raw writes a file to stdout, with the ids in it that it cannot know.
func (x *execution) raw(file, word string) {
	text, err := os.ReadFile(file)
	if err != nil {
		fatal(70, "fakecodex: %v", err)
	}
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	otherThread, otherTurn := "nothing", "nothing"
	for _, t := range x.s.threads {
		if word != "" && t != x.t && t.running != nil && strings.Contains(t.running.text, word) {
			otherThread, otherTurn = t.ID, t.active.ID
		}
	}
	ids := strings.NewReplacer("OTHERTHREAD", otherThread, "OTHERTURN", otherTurn, "THREAD", x.t.ID, "TURN", x.turn.ID, "CALL", string(x.s.lastCall))
	x.s.write([]byte(ids.Replace(string(text))))
}
