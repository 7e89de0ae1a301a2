package store

import "testing"

// TestToldOfAThread keeps what a thread has heard, over a restart, and not for one that
// has taken its place.
func TestToldOfAThread(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	told := func(want string) {
		t.Helper()
		got, err := s.Conversation(t.Context(), "c")
		must(t, err)
		equal(t, got.Told, want)
	}
	m, _ := accept(t, s, 0, "task")
	must(t, s.RecordInstructions(t.Context(), "t1", "too early")) // of a thread that is not known
	must(t, s.Begin(t.Context(), m.Job, 1, "c", "t1", "", ""))
	told("")
	must(t, s.RecordInstructions(t.Context(), "t1", "a"))
	told("a")
	must(t, s.RecordInstructions(t.Context(), "t1", "b"))
	closeStore(t, s)

	s = open(t, Config{Dir: dir})
	told("b")
	must(t, s.Begin(t.Context(), m.Job, 2, "c", "t2", "", ""))
	told("")
	must(t, s.Begin(t.Context(), m.Job, 3, "c", "t1", "", ""))
	told("b")
}
