package codex_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

const touchRule = `{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["touch"]}}`

// rulers is an executor whose model asks to write outside the sandbox, and words a rule for
// all commands of that name while it does. It returns codex's folder of rules and a folder
// that the sandbox does not let commands write.
func rulers(t *testing.T, rules bool) (e *rig, kept, outside string) {
	t.Helper()
	outside = codextest.Dir(t, "outside")
	model := modeltest.Start(t, func(turn *fakemodel.Turn) {
		if turn.LastUserText() != "go" || len(turn.NewToolOutputs()) > 0 {
			fakemodel.Keywords(turn)
			return
		}
		turn.Call("exec_command", marshalled(t, map[string]any{
			"cmd": "touch " + filepath.Join(outside, "asked"), "sandbox_permissions": "require_escalated",
			"justification": "may I?", "prefix_rule": []string{"touch"},
		}))
	})
	e = onCodex(t, model, func(c *config) {
		asks()(c)
		c.Rules = rules
		for _, variable := range c.Child.Env {
			if home, ok := strings.CutPrefix(variable, "CODEX_HOME="); ok {
				kept = filepath.Join(home, "rules")
			}
		}
	})
	return e, kept, outside
}

func marshalled(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// TestCallersMakeNoRules: what a caller answers ends with the conversation at the latest.
func TestCallersMakeNoRules(t *testing.T) {
	t.Parallel()
	e, kept, outside := rulers(t, false)
	w := submit(t, e, "j1", "one", "go")
	q := w.asked(t, 1)
	if shown := marshalled(t, q.Data); strings.Contains(shown, "Amendment") {
		t.Errorf("offered: %s", shown)
	}
	err := reply(t, e, "j1", q, `{"decision":`+touchRule+`}`)
	if wrong, ok := errors.AsType[*agent.NotUnderstoodError](err); !ok || !strings.Contains(wrong.Why, "CODEX_RULES=callers") {
		t.Errorf("the rule is answered by %v", err)
	}
	mustReply(t, e, "j1", q, "always")
	w.wait(t)
	if _, err := os.Stat(filepath.Join(outside, "asked")); err != nil {
		t.Errorf("what was allowed was not done: %v", err)
	}
	if rules, _ := filepath.Glob(filepath.Join(kept, "*")); len(rules) > 0 {
		t.Errorf("codex has written %q", rules)
	}
	submit(t, e, "j2", "two", "run touch "+filepath.Join(outside, "unasked")).wait(t)
	if _, err := os.Stat(filepath.Join(outside, "unasked")); err == nil {
		t.Error("another conversation has written outside its sandbox")
	}
}

// TestCallersMakeRules where the operator has said so: codex keeps what it has proposed, and
// goes by it in every conversation, whatever the policy there.
func TestCallersMakeRules(t *testing.T) {
	t.Parallel()
	e, kept, outside := rulers(t, true)
	w := submit(t, e, "j1", "two", "go")
	q := w.asked(t, 1)
	if shown := marshalled(t, q.Data); !strings.Contains(shown, touchRule) {
		t.Errorf("offered: %s", shown)
	}
	mustReply(t, e, "j1", q, `{"decision":`+touchRule+`}`)
	w.wait(t)
	rules, _ := filepath.Glob(filepath.Join(kept, "*"))
	if len(rules) != 1 {
		t.Fatalf("the rules are in %q", rules)
	}
	if text, err := os.ReadFile(rules[0]); err != nil || !strings.Contains(string(text), `"touch"`) {
		t.Errorf("the rules are %s (%v)", text, err)
	}
	submitWith(t, e, "j2", "run touch "+filepath.Join(outside, "unasked"),
		agent.Options{ApprovalPolicy: agent.Never, Sandbox: agent.ReadOnly}).wait(t)
	if _, err := os.Stat(filepath.Join(outside, "unasked")); err != nil {
		t.Errorf("the rule does not hold in another conversation: %v", err)
	}
}
