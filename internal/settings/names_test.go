package settings

import (
	"strings"
	"testing"
)

func TestUnknownNames(t *testing.T) {
	for name, c := range map[string]struct{ variable, problem, warning string }{
		"typo":        {"RUNTIME_ADR", "did you mean RUNTIME_ADDR?", ""},
		"swapped":     {"RUNTIME_TOEKN", "did you mean RUNTIME_TOKEN?", ""},
		"plural":      {"RUNTIME_MAX_TURN", "did you mean RUNTIME_MAX_TURNS?", ""},
		"later-part":  {"RUNTIME_MID_TURNS", "did you mean RUNTIME_MID_TURN?", ""},
		"kubernetes":  {"RUNTIME_PORT", "", "RUNTIME_PORT is not a setting"},
		"kubernetes2": {"RUNTIME_SERVICE_HOST", "", "RUNTIME_SERVICE_HOST is not a setting"},
		"systemd":     {"RUNTIME_DIRECTORY", "", "RUNTIME_DIRECTORY is not a setting"},
		"codex-typo":  {"CODEX_IDLE_TIMEOT", "", "did you mean CODEX_IDLE_TIMEOUT?"},
		"codex-own":   {"CODEX_SQLITE_HOME=/x", "", ""},
		"reserved":    {"CODEX_CHANNEL_MOLECULE_STATE_DIR", "", ""},
		"other":       {"RUNTIM", "", ""},
		"empty":       {"RUNTIME_ADR=", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, warnings, err := at(t, nil, assigned(c.variable))
			problem := ""
			if err != nil {
				problem = err.Error()
			}
			if (problem == "") != (c.problem == "") || !strings.Contains(problem, c.problem) {
				t.Errorf("problem %q, want %q", problem, c.problem)
			}
			warning := ""
			if len(warnings) > 0 {
				warning = warnings[0].String()
			}
			if (warning == "") != (c.warning == "") || !strings.Contains(warning, c.warning) {
				t.Errorf("warning %q, want %q", warning, c.warning)
			}
		})
	}
}

// assigned gives the variable a value, unless it has one.
func assigned(variable string) string {
	if strings.Contains(variable, "=") {
		return variable
	}
	return variable + "=x"
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"kitten", "sitting", 3}, {"ADDR", "DIR", 2}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
