package store

import (
	"testing"
	"time"
)

// TestThreadsBeforeAFork: a thread that the one of a conversation may be a fork of is left over with that.
func TestThreadsBeforeAFork(t *testing.T) {
	s := open(t, Config{})
	tools := "some"
	use := func(thread string) {
		must(t, s.do(t.Context(), "use", relaxed, func(c *conn) error { return c.useThread("c", thread, "", tools, nanos(s.now())) }))
	}
	want := func(left []string, before map[string]string) {
		t.Helper()
		over, err := s.LeftoverThreads(t.Context(), 10)
		must(t, err)
		equal(t, over, left)
		lines, err := s.Before(t.Context())
		must(t, err)
		equal(t, lines, before)
	}
	forget := func() {
		t.Helper()
		must(t, s.ForgetConversation(t.Context(), "c", time.Time{}))
	}
	given, err := s.AdoptThreads(t.Context(), map[string]string{"c": "theirs"}, "foreign")
	must(t, err)
	equal(t, given, 1)
	use("a")
	want(nil, map[string]string{})
	use("b")
	use("b")
	want(nil, map[string]string{"a": "b"})
	use("c")
	want(nil, map[string]string{"a": "c", "b": "c"})
	forget()
	want([]string{"a", "b", "c"}, map[string]string{})
	use("d") // begun anew
	want([]string{"a", "b", "c"}, map[string]string{})
	must(t, s.DropThreads(t.Context(), "a", "b", "c"))
	tools = "other"
	use("e") // no fork, which has the same tools
	want([]string{"d"}, map[string]string{})
	use("f")
	want([]string{"d"}, map[string]string{"e": "f"})
	forget()
	want([]string{"d", "e", "f"}, map[string]string{})
}
