package store

import "testing"

// TestToldOfAThread keeps what a thread has heard, over a restart, and not for one that
// has taken its place.
func TestToldOfAThread(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	m, _ := accept(t, s, 0, "task")
	must(t, s.Tell(t.Context(), "t1", "too early")) // of a thread that is not known
	must(t, s.Begin(t.Context(), m.Job, 1, "c", "t1", "", ""))
	for _, digest := range []string{"", "a", "b"} {
		if digest != "" {
			must(t, s.Tell(t.Context(), "t1", digest))
		}
		got, err := s.Told(t.Context(), "t1")
		must(t, err)
		equal(t, got, digest)
	}
	must(t, s.Begin(t.Context(), m.Job, 2, "c", "t2", "", ""))
	closeStore(t, s)

	s = open(t, Config{Dir: dir})
	for thread, want := range map[string]string{"t1": "b", "t2": "", "nobody": ""} {
		got, err := s.Told(t.Context(), thread)
		must(t, err)
		equal(t, got, want)
	}
}
