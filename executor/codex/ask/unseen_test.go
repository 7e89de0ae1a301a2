package ask

import (
	"slices"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// TestUnseenIsNotAsked: where a "yes" would be to what is not shown there is no question.
func TestUnseenIsNotAsked(t *testing.T) {
	t.Parallel()
	change := agent.Change{Path: "/w/a", Kind: "add"}
	for _, c := range []struct {
		method, request string
		changes         []agent.Change
		asked           bool
	}{
		{askChange, `{"itemId":"i"}`, nil, false},
		{askChange, `{"itemId":"i","grantRoot":"/w","reason":"may I?"}`, nil, false},
		{askChange, `{"itemId":"i"}`, []agent.Change{change}, true},
		{askChange, `{"itemId":"i"}`, slices.Repeat([]agent.Change{change}, mostChanges), true},
		{askChange, `{"itemId":"i"}`, slices.Repeat([]agent.Change{change}, mostChanges+1), false},
		{askCommand, `{"cwd":"/w","reason":"may I?"}`, nil, false},
		{askCommand, `{"cwd":"/w","command":"ls"}`, nil, true},
		{askCommand, `{"cwd":"/w","networkApprovalContext":{"host":"x","protocol":"https"}}`, nil, true},
	} {
		if p := poseOf(t, c.method, c.request, c.changes...); (p.unseen == "") != c.asked {
			t.Errorf("%s of %s with %d changes: unseen is %q", c.method, c.request, len(c.changes), p.unseen)
		}
	}
}
