package identity_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/identity"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func open(t *testing.T, cfg identity.Config) *identity.Identity {
	t.Helper()
	cfg.Logger = slog.New(slog.DiscardHandler)
	id, err := identity.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestMade: what is not there is made, is its owner's alone, and stays, also where two make it at the same time.
func TestMade(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "state")
	all := make([]*identity.Identity, 4)
	var group sync.WaitGroup
	for i := range all {
		group.Go(func() { all[i] = open(t, identity.Config{Dir: dir, Names: []string{"big", "127.0.0.1"}}) })
	}
	group.Wait()
	first, err := all[0].Token.Value()
	if err != nil || len(first) < 20 {
		t.Errorf("the token has %d characters, %v", len(first), err)
	}
	for _, id := range all {
		token, err := id.Token.Value()
		if err != nil || token != first || id.ID != all[0].ID || id.Cert.Fingerprint() != all[0].Cert.Fingerprint() {
			t.Error("two that were opened together differ")
		}
		if id.Token.Is("") || id.Token.Is(first+"x") || !id.Token.Is(first) {
			t.Error("the wrong token is right, or the other way")
		}
	}
	for _, name := range []string{"id", "token", "cert.pem", "key.pem"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	pair, err := all[0].Cert.Get(nil)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil || cert.VerifyHostname("big") != nil || cert.VerifyHostname("127.0.0.1") != nil || time.Until(cert.NotAfter) < 50*365*24*time.Hour {
		t.Errorf("the certificate is %v, %v", cert, err)
	}
	if all[0].Cert.Fingerprint() != wire.Fingerprint(pair.Certificate[0]) || !all[0].Cert.Made {
		t.Error("the fingerprint is that of another one")
	}
}

// TestStateThatIsOpen is closed.
func TestStateThatIsOpen(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	open(t, identity.Config{Dir: dir})
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm()&0o066 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestTokenOfTheOperator is read again when it changes; a weak one is none.
func TestTokenOfTheOperator(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "mine")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("first-token-of-the-operator\n")
	id := open(t, identity.Config{Dir: dir, TokenFile: file})
	if !id.Token.Is("first-token-of-the-operator") || id.TokenFile != file {
		t.Error("it is not taken")
	}
	write("second-token-of-the-operator")
	if id.Token.Is("first-token-of-the-operator") || !id.Token.Is("second-token-of-the-operator") {
		t.Error("the one before is still in force")
	}
	write("short")
	if id.Token.Is("short") {
		t.Error("a short one lets in")
	}
	if err := os.Remove(file); err != nil || id.Token.Is("") {
		t.Errorf("none lets in, %v", err)
	}
	for _, cfg := range []identity.Config{{TokenFile: file}, {Token: "short"}} {
		cfg.Dir = dir
		if _, err := identity.Open(cfg); err == nil {
			t.Errorf("%+v is taken", cfg)
		}
	}
	if id := open(t, identity.Config{Dir: dir, Token: "a-token-of-a-variable"}); !id.Token.Is("a-token-of-a-variable") || id.TokenFile != "" {
		t.Error("one of a variable is not taken")
	}
}

// TestCertificateThatChanges is read again; what cannot be used leaves the one before.
func TestCertificateThatChanges(t *testing.T) {
	mine, other := t.TempDir(), t.TempDir()
	first, second := open(t, identity.Config{Dir: mine}), open(t, identity.Config{Dir: other})
	var log bytes.Buffer
	cert, key := filepath.Join(mine, "cert.pem"), filepath.Join(mine, "key.pem")
	id, err := identity.Open(identity.Config{Dir: t.TempDir(), Cert: cert, Key: key, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil || id.Cert.Made {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) { // once a second it is looked for
		want := func(when string, of *identity.Identity) {
			t.Helper()
			time.Sleep(2 * time.Second)
			got, err := id.Cert.Get(&tls.ClientHelloInfo{})
			if err != nil || wire.Fingerprint(got.Certificate[0]) != of.Cert.Fingerprint() {
				t.Errorf("%s: another one, %v", when, err)
			}
		}
		want("at first", first)
		move := func(name string) error {
			text, err := os.ReadFile(filepath.Join(other, name))
			return errors.Join(err, os.WriteFile(filepath.Join(mine, name), text, 0o600))
		}
		if err := errors.Join(os.WriteFile(cert, []byte("half"), 0o600)); err != nil {
			t.Fatal(err)
		}
		want("half written", first)
		if err := move("cert.pem"); err != nil {
			t.Fatal(err)
		}
		want("without its key", first)
		if err := move("key.pem"); err != nil {
			t.Fatal(err)
		}
		want("whole", second)
	})
	if !strings.Contains(log.String(), "cannot be used") || !strings.Contains(log.String(), second.Cert.Fingerprint()) {
		t.Errorf("the log says %s", &log)
	}
}

// TestLock keeps a second one out until it is released.
func TestLock(t *testing.T) {
	dir := t.TempDir()
	release, err := identity.Lock(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := identity.Lock(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "RUNTIME_STATE_DIR") {
		t.Errorf("%v", err)
	}
	release()
	again, err := identity.Lock(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	again()
}
