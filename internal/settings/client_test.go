package settings

import "testing"

// TestLoadClient minds its own settings only: the server's may be those of another machine.
func TestLoadClient(t *testing.T) {
	s, err := LoadClient([]string{"HOME=/home/me", "RUNTIME_ADDR=0.0.0.0:8000", "RUNTIME_MAX_TURNS=none", "RUNTIME_TOKEN=sesame"})
	if err != nil || s.URL != "http://127.0.0.1:8000" || s.Token.Reveal() != "sesame" || s.CodexHome != "/home/me/.codex" {
		t.Errorf("client = %+v, %v", s, err)
	}
	if s, err := LoadClient([]string{"HOME=/home/me", "RUNTIME_URL=https://box:1/x", "CODEX_HOME=/codex"}); err != nil || s.URL != "https://box:1/x" || s.CodexHome != "/codex" {
		t.Errorf("client = %+v, %v", s, err)
	}
	if _, err := LoadClient([]string{"HOME=/home/me", "RUNTIME_URL=box:1"}); len(Problems(err)) != 1 {
		t.Errorf("a URL that is none: %v", err)
	}
}
