package machine

import (
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/machine/identity"
)

// TestJoin: what joins a machine is a line for a shell.
func TestJoin(t *testing.T) {
	dir := t.TempDir() + "/it's"
	made, err := identity.Open(identity.Config{Dir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	host, _ := os.Hostname()
	want := "RUNTIME_MACHINES='https://" + host + ":7443#" + made.Cert.Fingerprint() + "' RUNTIME_MACHINES_TOKEN_FILE='" + strings.ReplaceAll(dir, "'", `'\''`) + "/token' runtime serve"
	if got := joinOf("0.0.0.0:7443", made).Command(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if j := joinOf("[::1]:7443", made); !strings.HasPrefix(j.URL, "https://[::1]:7443#sha256:") {
		t.Errorf("%+v", j)
	}
	given, err := identity.Open(identity.Config{
		Dir: dir, Cert: dir + "/cert.pem", Key: dir + "/key.pem", Token: "a-token-of-a-variable", Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := joinOf("big.example:7443", given).Command(), "RUNTIME_MACHINES='https://big.example:7443' RUNTIME_MACHINES_TOKEN=… runtime serve"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
