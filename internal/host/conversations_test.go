package host

import (
	"errors"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// TestDropByAClockThatWasAhead: /new goes by what waits and runs, and not by when the conversation was used.
func TestDropByAClockThatWasAhead(t *testing.T) {
	s, err := store.Open(t.Context(), store.Config{Dir: t.TempDir(), Now: func() time.Time { return time.Now().Add(2 * time.Hour) }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m := store.Message{Key: store.Key{Message: "c1"}, TaskID: "c1", Job: "c1", Conversation: "peer:c1", Body: []byte("{}")}
	if err := errors.Join(
		s.Accept(t.Context(), m, store.Head{ID: "c1", Context: "c1", Conversation: m.Conversation, State: "working"}),
		s.Begin(t.Context(), "c1", 1, m.Conversation, "01a1fdb0-fdfb-7181-b145-000000000001", "", ""),
		s.Write(t.Context(), store.Change{Head: &store.Head{ID: "c1", State: "completed", Ended: true}, Ended: []string{"c1"}}),
	); err != nil {
		t.Fatal(err)
	}
	driver := codex.New(codex.Config{})
	e := executor.New(executor.Config{}, driver)
	c := conversations{s, driver}
	if err := c.Drop(t.Context(), "peer:c1"); err != nil {
		t.Error(err)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
