package main

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
		"remark":        {"a.rules", `  # prefix_rule(pattern=["a"])`, "operator", preflight.OK, "none allows"},
		"other":         {"a.txt", `prefix_rule(pattern=["a"])`, "operator", preflight.OK, "none allows"},
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
