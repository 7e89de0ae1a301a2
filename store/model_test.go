package store

import "testing"

// TestModelOfAThread keeps the model of a thread until it is told of another, or the
// conversation has another thread.
func TestModelOfAThread(t *testing.T) {
	s := open(t, Config{Dir: t.TempDir()})
	for i, step := range []struct{ thread, model, want string }{
		{"t1", "", ""}, {"t1", "own", "own"}, {"t1", "", "own"}, {"t1", "other", "other"}, {"t2", "", ""}, {"t2", "own", "own"},
	} {
		m, _ := accept(t, s, i, "task")
		must(t, s.Begin(t.Context(), m.Job, 1, "c", step.thread, step.model, ""))
		got, err := s.Conversation(t.Context(), "c")
		must(t, err)
		if got.Model != step.want || got.Thread != step.thread {
			t.Errorf("step %d: the model is %q in the thread %q, want %q", i, got.Model, got.Thread, step.want)
		}
	}
	none, err := s.Conversation(t.Context(), "nobody")
	must(t, err)
	equal(t, none, Conversation{})
}

// TestToolsOfAThread keeps what the newest attempt has said of them.
func TestToolsOfAThread(t *testing.T) {
	s := open(t, Config{Dir: t.TempDir()})
	for i, step := range []struct{ thread, tools string }{{"t1", ""}, {"t1", ""}, {"t2", "a"}, {"t2", "a"}, {"t3", "b"}, {"t4", ""}} {
		m, _ := accept(t, s, i, "task")
		must(t, s.Begin(t.Context(), m.Job, 1, "c", step.thread, "", step.tools))
		got, err := s.Conversation(t.Context(), "c")
		must(t, err)
		equal(t, got.Tools, step.tools)
	}
}
