package replay_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// TestThreadsConfigured plays what threads were loaded with: neither the configuration nor a file
// that is too large for codex is there any more.
func TestThreadsConfigured(t *testing.T) {
	var later atomic.Bool
	s := newSession(t, func(c *executor.Config) {
		prepare := c.Prepare
		c.Prepare = func(ctx context.Context) (executor.Launch, error) {
			launch, err := prepare(ctx)
			launch.Thread = func() map[string]any {
				if later.Load() {
					return map[string]any{"web_search": "disabled"}
				}
				return nil
			}
			launch.Oversized = func(string) string {
				if later.Load() {
					return "/work/AGENTS.md"
				}
				return ""
			}
			return launch, err
		}
	})
	s.say("a", "say one")
	later.Store(true)
	s.say("b", "say two")
	later.Store(false)
	s.say("c", "say three")
	s.stop()
	if got := s.record(); strings.Count(got, `"web_search"`) != 2 || strings.Count(got, `"project_doc_max_bytes"`) != 1 {
		t.Errorf("the configuration is not in the record:\n%s", got)
	}
	s.replayed()
}
