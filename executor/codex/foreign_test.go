package codex

import (
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/items"
)

// TestTurnOfNobody: a turn is no more ours when it has a message of codex's queue in it, wherever that
// stands; the ids of those are codex's own (seen on 0.169.0).
func TestTurnOfNobody(t *testing.T) {
	const queued = "01a222fd-71fa-7d63-8f70-1a83bd8b984a"
	for name, c := range map[string]struct {
		ids  []string
		ours bool
	}{
		"ours":            {[]string{"job.1"}, true},
		"and a steer":     {[]string{"job.1", "task/7.1"}, true},
		"and codex's own": {[]string{"job.1", ""}, true},
		"the queue's":     {[]string{queued}, false},
		"ours behind it":  {[]string{queued, "job.1"}, false},
		"ours before it":  {[]string{"job.1", queued}, false},
		"another attempt": {[]string{"job.2"}, false},
		"without an id":   {[]string{""}, false},
	} {
		turn := &turn{Order: executor.Order{Attempt: executor.Attempt{Job: "job", N: 1}}, record: items.NewRecord()}
		ours := true
		for _, id := range c.ids {
			ours = turn.isOurs(appserver.Item{Type: appserver.ItemUserMessage, ClientID: id})
		}
		if ours != c.ours {
			t.Errorf("%s: ours %t", name, ours)
		}
	}
}
