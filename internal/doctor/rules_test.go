package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

// TestRulesCheck warns where a rule has commands run outside of codex's sandbox.
func TestRulesCheck(t *testing.T) {
	for name, c := range map[string]struct {
		file, text, who string
		status          preflight.Status
		says            string
	}{
		"none":          {"", "", "operator", preflight.OK, "none allows"},
		"callers":       {"", "", "callers", preflight.Warn, "callers may make rules"},
		"allow":         {"default.rules", `prefix_rule(pattern=["git"], decision="allow")`, "operator", preflight.Warn, "default.rules allows"},
		"unsaid":        {"a.rules", "# mine\nprefix_rule(\n  pattern = [\"git\"],\n)", "operator", preflight.Warn, "a.rules allows"},
		"one of":        {"a.rules", `prefix_rule(pattern=["a"], decision="prompt")` + "\n" + `prefix_rule(pattern=["b"])`, "operator", preflight.Warn, "allows"},
		"forbidden":     {"a.rules", `prefix_rule(pattern=["a"], decision = 'forbidden')`, "operator", preflight.OK, "none allows"},
		"remark behind": {"a.rules", `prefix_rule(pattern=["a"]) # was decision="prompt"`, "operator", preflight.Warn, "allows"},
		"in words":      {"a.rules", `prefix_rule(pattern=["a"], justification="decision='prompt'")`, "operator", preflight.Warn, "allows"},
		"in an example": {"a.rules", `prefix_rule(pattern=["a"], decision="allow", not_match=["x decision='prompt'"])`, "operator", preflight.Warn, "allows"},
		"in long words": {"a.rules", `prefix_rule(pattern=["a"], justification=""" decision="prompt" """)`, "operator", preflight.Warn, "allows"},
		"beside":        {"a.rules", `prefix_rule(pattern=["a"], decision="prompt"); decision="prompt"; prefix_rule(["b"])`, "operator", preflight.Warn, "allows"},
		"computed":      {"a.rules", `prefix_rule(pattern=["a"], decision="prompt" if False else "allow")`, "operator", preflight.Warn, "allows"},
		"other name":    {"a.rules", "f = prefix_rule\nf(pattern=[\"a\"], decision=\"allow\", justification='decision=\"prompt\"')", "operator", preflight.Warn, "allows"},
		"returned":      {"a.rules", "# \rprefix_rule(pattern=[\"a\"])", "operator", preflight.Warn, "allows"},
		"plain": {
			"a.rules", "# mine: \"no\"\r\nprefix_rule( # this\n  pattern = [\"a#\", ['b', \"c\",], ],\n  decision=\"prompt\", match=[['a#', 'b']],\n  justification = \"it's \\\"so\\\"\", )\n" +
				`host_executable(name="a", paths=["/a"])` + "\n" + `network_rule(host="a.b", protocol="https", decision="allow")` + "\nprefix_rule(pattern=['b'], decision='forbidden')",
			"operator", preflight.OK, "none allows",
		},
		"remark": {"a.rules", `  # prefix_rule(pattern=["a"])`, "operator", preflight.OK, "none allows"},
		"other":  {"a.txt", `prefix_rule(pattern=["a"])`, "operator", preflight.OK, "none allows"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			if c.file != "" {
				if err := os.Mkdir(filepath.Join(home, "rules"), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(home, "rules", c.file), []byte(c.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got := rulesCheck(settings.Settings{CodexHome: home, Rules: c.who}).Do(t.Context())
			if got.Status != c.status || !strings.Contains(got.Detail, c.says) || (got.Fix == "") != (c.status == preflight.OK) {
				t.Errorf("%+v", got)
			}
		})
	}
}
