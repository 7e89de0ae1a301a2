package adapter

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leasetest"
)

// TestHeldSecretFile: a command that holds a file of secrets is not to choose what codex is
// started without.
func TestHeldSecretFile(t *testing.T) {
	s, dir, _, _, _ := workspace(t, "OPENAI_API_KEY=sk-key")
	put(t, filepath.Join(dir, "config.yaml"), "name: Ada\n")
	file := filepath.Join(dir, "secrets.d", "OPENAI_BASE_URL")
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, file, "http://model.example/v1")
	put(t, filepath.Join(dir, "secrets.d", "OTHER"), "value")
	letGo := leasetest.Hold(t, file)
	if vars, warnings, err := SecretFiles(filepath.Dir(file), nil); !slices.Equal(vars, []string{"OTHER=value"}) || warnings != nil || err == nil {
		t.Errorf("the files: %q, %v, %v", vars, warnings, err)
	}
	_, err := s.Prepare(t.Context())
	if problem, ok := errors.AsType[*Problem](err); !ok || !strings.Contains(problem.Error(), "end the process that has a lease on "+file) {
		t.Errorf("while it is held: %v", err)
	}
	if s.Problem() == "" {
		t.Error("it is not said that codex cannot be started")
	}
	if _, _, _, err := Look(s.cfg); err == nil {
		t.Error("checks do not see it")
	}
	letGo()
	launch, err := s.Prepare(t.Context())
	if err != nil || !slices.Contains(launch.Environ, "OPENAI_BASE_URL=http://model.example/v1") || s.Problem() != "" {
		t.Errorf("afterwards: %q, %v", launch.Environ, err)
	}
}

// TestHeldLogin: while a command holds the login, or what says what it was made from, it is
// not replaced by an older one, whose refresh token is spent.
func TestHeldLogin(t *testing.T) {
	seed, renewed, other := auth("", 1, "seed"), auth("", 1, "renewed"), auth("", 2, "other")
	for name, file := range map[string]func(*Logins) string{
		"login": func(l *Logins) string { return authFile(l.cfg.Home) },
		"seed":  (*Logins).seedFile,
	} {
		t.Run(name, func(t *testing.T) {
			l := logins(t, nil, true)
			l.put(t, seed)
			put(t, authFile(l.home), renewed) // by codex
			again := NewLogins(l.cfg)         // after a restart of ours
			letGo := leasetest.Hold(t, file(l.Logins))
			if err := again.Install(t.Context(), given(seed)); !errors.Is(err, regular.ErrHeld) {
				t.Errorf("while it is held: %v", err)
			}
			letGo()
			l.want(t, renewed)
			if err := again.Install(t.Context(), given(other)); err != nil {
				t.Error(err)
			}
			l.want(t, other)
		})
	}
}

// TestHeldSeedKeepsNoCodex: with the login as it is codex can be started; what is given is
// tried again.
func TestHeldSeedKeepsNoCodex(t *testing.T) {
	seed, other := auth("", 1, "seed"), auth("", 1, "other")
	s, dir, log, _, _ := workspace(t, "CODEX_AUTH_JSON="+other)
	s.cfg.Logins.cfg.Owned = true
	put(t, filepath.Join(dir, "config.yaml"), "name: Ada\n")
	before := loginTest{Logins: NewLogins(s.cfg.Logins.cfg), home: s.cfg.Logins.cfg.Home, log: &lines{}}
	before.put(t, seed)
	letGo := leasetest.Hold(t, before.seedFile())
	if _, err := s.Prepare(t.Context()); err != nil || !strings.Contains(log.String(), "end the process that has a lease on ") {
		t.Errorf("while it is held: %v\n%s", err, log)
	}
	before.want(t, seed)
	letGo()
	if _, err := s.Prepare(t.Context()); err != nil {
		t.Error(err)
	}
	before.want(t, other)
}
