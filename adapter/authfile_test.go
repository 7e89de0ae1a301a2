package adapter_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
)

// TestSecretsOfALogin are what looks like keys and tokens, and not any words that were put
// in their place.
func TestSecretsOfALogin(t *testing.T) {
	for key, want := range map[string][]string{
		"sk-proj-1234567890\n":                {"sk-proj-1234567890"},
		"rm -rf / and more":                   nil,
		strings.Repeat("a line of it\n", 100): nil,
		strings.Repeat("x", 70_000):           nil,
		"schlüssel":                           nil,
	} {
		text, err := json.Marshal(map[string]any{"OPENAI_API_KEY": key})
		if err != nil {
			t.Fatal(err)
		}
		login, err := adapter.LookAtLogin(text)
		if got := login.Secrets(); err != nil || !slices.Equal(got, want) {
			t.Errorf("%.40q: %.40q, %v, want %q", key, got, err, want)
		}
	}
	login, err := adapter.LookAtLogin([]byte(`{"tokens":{"access_token":"a.b.c","refresh_token":"rt_1","id_token":"i.d.t"}}`))
	if got := login.Secrets(); err != nil || !slices.Equal(got, []string{"a.b.c", "rt_1", "i.d.t"}) {
		t.Errorf("%q, %v", got, err)
	}
}
