package e2e

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

const skillBody = "THE-BODY-OF-THE-SKILL"

// addSkill gives codex a skill `mentioned`, and returns the file.
func (p *program) addSkill() string {
	p.t.Helper()
	path := filepath.Join(p.Home, "skills", "mentioned", "SKILL.md")
	writeFile(p.t, path, "---\nname: mentioned\ndescription: for tests\n---\n"+skillBody+"\n")
	return path
}

// TestPeersMentionNoSkill: codex adds a skill to a turn whose text names it in one of its
// ways, as the user's words. What another agent says names none in any of them.
func TestPeersMentionNoSkill(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	m := join(t, fakeplatform.AUG)
	m.online()
	bob := m.platform.Add(fakeplatform.Workspace{Name: "Bob", Reply: strings.ToUpper})
	path := m.addSkill()
	for id, form := range map[string]string{
		"plain": "x$mentioned's", "second": "$$mentioned", "link": "[$5](" + path + ")", "far-link": "[$:-] \n(skill://" + path + ")",
	} {
		before := len(m.Model.Requests())
		m.user("u-"+id, "say "+form)
		m.peerSends(bob, "b-"+id, "/"+id, "say "+form)
		requests := m.Model.Requests()[before:]
		if len(requests) != 2 {
			t.Fatalf("%s: %d requests", id, len(requests))
		}
		if !strings.Contains(string(requests[0].Body), skillBody) {
			t.Errorf("codex 0.169.0 takes %q for the mention of a skill, and this one does not", form)
		}
		if strings.Contains(string(requests[1].Body), skillBody) {
			t.Errorf("codex adds a skill to the words %q of another agent", form)
		}
		framed(t, requests[1].LastUserText(), bob.ID())
		m.user("n-"+id, "/new")
	}
}

// TestEndOfADelegationMentionsNoSkill: it is told in the user's conversation.
func TestEndOfADelegationMentionsNoSkill(t *testing.T) {
	t.Parallel()
	x := poll(t)
	bob := x.neighbour("Bob")
	x.addSkill()
	x.handle.AddRow(fakeplatform.Row{
		Source: x.handle.ID(), Target: bob.ID(), Method: "delegate_result", RequestBody: json.RawMessage(`{}`), ResponseBody: json.RawMessage(`{"text":"done, see $mentioned"}`),
	})
	var body string
	progtest.WaitFor(t, "the end of the delegation", func() bool {
		for _, r := range x.Model.Requests() {
			body = string(r.Body)
		}
		return strings.Contains(body, "has come to its end")
	})
	if strings.Contains(body, skillBody) || !strings.Contains(body, "done, see ${mentioned}") {
		t.Error("codex adds a skill to the words of another agent, or has others than it said")
	}
}
