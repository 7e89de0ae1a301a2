package platform_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// TestTokenFilesThatAreNone are refused at once, and are none to write through.
func TestTokenFilesThatAreNone(t *testing.T) {
	for name, place := range map[string]func(string) error{
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, fakeplatform.AUG)
			token := filepath.Join(s.dir, platform.TokenFile)
			if err := errors.Join(os.Remove(token), place(token), place(filepath.Join(s.dir, platform.InboundSecretFile))); err != nil {
				t.Fatal(err)
			}
			done := time.AfterFunc(time.Minute, func() { panic("it waits for the token") })
			defer done.Stop()
			err := s.Heartbeat(t.Context(), platform.Beat{})
			if err == nil || !strings.Contains(err.Error(), "it is not a file") || !strings.Contains(err.Error(), token) {
				t.Errorf("%v", err)
			}
		})
	}
}
