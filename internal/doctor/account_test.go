package doctor

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakelogin"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

// TestAccountIsShownAndLeftAlone runs the check on the real codex with a login
// that is about to expire: a codex that is merely started would renew it.
func TestAccountIsShownAndLeftAlone(t *testing.T) {
	issuer := fakelogin.Start(t)
	s := settings.Settings{CodexBin: codextest.Bin(t), CodexHome: codextest.Home(t), WorkDir: codextest.Dir(t, "work")}
	environ := append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + codextest.Dir(t, "user")}, issuer.Env()...)
	check := accountCheck(Case{Settings: s, Environ: environ}, scratch{})

	if r := check.Do(t.Context()); r.Status != preflight.Fail || !strings.Contains(r.Fix, "codex login") {
		t.Errorf("without a login: %+v", r)
	}
	auth := filepath.Join(s.CodexHome, "auth.json")
	login := issuer.AuthUntil(time.Now().Add(-time.Hour))
	for path, text := range map[string][]byte{auth: login, filepath.Join(s.CodexHome, "config.toml"): []byte(issuer.Config("http://127.0.0.1:1/v1"))} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := check.Do(t.Context())
	if r.Status != preflight.OK || r.Detail != "chatgpt, plan pro, of example.com" {
		t.Errorf("with a login: %+v", r)
	}
	if now, err := os.ReadFile(auth); err != nil || !bytes.Equal(now, login) || issuer.Renewals() != 0 {
		t.Errorf("the login was changed, %d renewals, %v", issuer.Renewals(), err)
	}
	s.OpenAIBaseURL = "http://127.0.0.1:1/v1"
	if r := accountCheck(Case{Settings: s, Environ: environ}, scratch{}).Do(t.Context()); r.Status != preflight.OK || strings.Contains(r.Detail, "chatgpt") {
		t.Errorf("with a provider of ours: %+v", r)
	}
	s.CodexBin = "/no/such/codex"
	if r := accountCheck(Case{Settings: s, Environ: environ}, scratch{}).Do(t.Context()); r.Status != preflight.Warn {
		t.Errorf("without codex: %+v", r)
	}
}

func TestAccountThatCannotBeTold(t *testing.T) {
	r := accountResult(executor.Account{}, "", codex.RefusedError{Words: "routing discovery", Err: errors.New("refused")})
	if r.Status != preflight.Warn || !strings.Contains(r.Detail, "routing discovery") {
		t.Errorf("refused: %+v", r)
	}
	if r = accountResult(executor.Account{}, "", errors.New("one\ntwo")); r.Status != preflight.Warn || strings.Contains(r.Detail, "two") {
		t.Errorf("failed: %+v", r)
	}
}
