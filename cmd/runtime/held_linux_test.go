package main

import (
	"bytes"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leasetest"
)

// TestHeldSettings: the runtime does not start without what closes it, and its service starts
// it again.
func TestHeldSettings(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "secrets.d", "RUNTIME_TOKEN")
	if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("a-token-of-sixteen"), 0o600)); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // in any case it comes no further than to this address
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	leasetest.Hold(t, file)
	var out, errs bytes.Buffer
	code := run(t.Context(), nil, []string{
		"HOME=" + t.TempDir(), "WORKSPACE_ID=w", "PLATFORM_URL=http://127.0.0.1:1", "CONFIGS_DIR=" + dir, "RUNTIME_ADDR=" + l.Addr().String(), "RUNTIME_MODEL=scripted",
	}, nil, &out, &errs)
	if code != exitFailed || !strings.Contains(errs.String(), "end the process that has a lease on "+file) {
		t.Errorf("run = %d: %s", code, errs.String())
	}
}
