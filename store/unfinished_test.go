package store

import (
	"strings"
	"testing"
)

// explained is how SQLite finds what a statement asks for.
func explained(t *testing.T, s *Store, text string) []string {
	t.Helper()
	plan, err := view(t.Context(), s, "explain", func(c *conn) ([]string, error) {
		scan := func(row scanner, detail *string) error {
			var id, parent, unused int
			return row.Scan(&id, &parent, &unused, detail)
		}
		return collect(c, scan, "EXPLAIN QUERY PLAN "+text)
	})
	must(t, err)
	return plan
}

// TestStartReadsWhatIsUnfinishedOnly and not what has ended, of which there may be much.
func TestStartReadsWhatIsUnfinishedOnly(t *testing.T) {
	s := open(t, Config{})
	for name, text := range map[string]string{
		"tasks": unfinished, "messages": waitingMessages,
	} {
		plan := explained(t, s, text)
		for _, step := range plan {
			if strings.HasPrefix(step, "SCAN ") && !strings.HasSuffix(step, "tasks_live") && !strings.HasSuffix(step, "messages_waiting") {
				t.Errorf("%s: %s, in %q", name, step, plan)
			}
		}
	}
}
