package codex

import (
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

func TestRefusedBefore(t *testing.T) {
	t.Parallel()
	e := New(Config{})
	failed := func(status appserver.TurnStatus, info string) finding {
		return finding{turn: &appserver.Turn{Status: status, Error: &appserver.TurnError{Message: "m", CodexErrorInfo: []byte(info)}}}
	}
	tool := failed(appserver.TurnFailed, `"unauthorized"`)
	tool.Tool = true
	for what, c := range map[string]struct {
		found finding
		want  bool
	}{
		"credential": {failed(appserver.TurnFailed, `"unauthorized"`), true},
		"tool":       {tool, false},
		"limit":      {failed(appserver.TurnFailed, `"usageLimitExceeded"`), false},
		"other":      {failed(appserver.TurnFailed, `"other"`), false},
		"completed":  {failed(appserver.TurnCompleted, `"unauthorized"`), false},
	} {
		if got := e.stateOf(c.found) == executor.Refused; got != c.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}
