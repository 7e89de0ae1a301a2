package store

import (
	"testing"
	"time"
)

// TestAdopt gives conversations the threads of another program, which stay that
// program's.
func TestAdopt(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	accept(t, s, 1, "task")
	must(t, s.Begin(t.Context(), "job-1", 1, "peer:has", "thread-1", "", "t"))
	all := map[string]string{"canvas:w": "old-1", "peer:has": "old-2", "peer:p": "old-3"}
	for _, want := range []int{2, 0} {
		if given, err := s.AdoptThreads(t.Context(), all, "foreign"); err != nil || given != want {
			t.Errorf("%d given, %v, want %d", given, err, want)
		}
	}
	closeStore(t, s)
	s = open(t, Config{Dir: dir})
	for conversation, want := range map[string][2]string{
		"canvas:w": {"old-1", "foreign"}, "peer:has": {"thread-1", "t"}, "peer:p": {"old-3", "foreign"}, "peer:none": {},
	} {
		known, err := s.Conversation(t.Context(), conversation)
		must(t, err)
		equal(t, known, Conversation{Thread: want[0], Tools: want[1]})
	}
	// One that is forgotten or replaced is not left over: its file is not ours to delete.
	must(t, s.ForgetConversation(t.Context(), "canvas:w", time.Time{}))
	must(t, s.Begin(t.Context(), "job-1", 2, "peer:p", "thread-2", "", "t"))
	left, err := s.LeftoverThreads(t.Context(), 10)
	must(t, err)
	equal(t, left, nil)
	all2, err := s.Threads(t.Context())
	must(t, err)
	equal(t, all2, []string{"thread-1", "thread-2"})
}
