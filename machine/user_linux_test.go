package machine_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/machine"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// TestOtherUser: commands run as another user, who can read nothing of the machine's, and are ended all the same.
func TestOtherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("this takes root")
	}
	user, err := asuser.Lookup("4242:4242")
	if err != nil {
		t.Fatal(err)
	}
	g := start(t, func(cfg *machine.Config) {
		cfg.User, cfg.Token = user, ""
		home := codextest.Dir(t, "theirs")
		cfg.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + home}
		if err := errors.Join(os.Chown(cfg.Root, 4242, 4242), os.Chown(home, 4242, 4242)); err != nil {
			t.Fatal(err)
		}
	})
	text, err := os.ReadFile(filepath.Join(g.cfg.State, "token"))
	if err != nil {
		t.Fatal(err)
	}
	g.token = strings.TrimSpace(string(text))
	c := g.tenant("r1", 1)
	w := c.watch()
	if s := w.until("a word", func(wire.Status) bool { return true }); s.Trouble != "" || !slices.Contains(s.Files, wire.FilesGit) {
		t.Fatalf("trouble is %q, files %q", s.Trouble, s.Files)
	}
	argv, alive := g.command("it")
	said := filepath.Join(g.cfg.Root, "said")
	c.exec().start("p1", []string{"/bin/sh", "-c", fmt.Sprintf("(id -u; cat %s/token; ls %s) > %s 2>&1; setsid %s 600 & wait", g.cfg.State, g.cfg.State, said, argv[0])})
	wait(t, "the command", alive)
	got, err := os.ReadFile(said)
	if err != nil || !strings.HasPrefix(string(got), "4242\n") || strings.Contains(string(got), g.token) || strings.Count(string(got), "Permission denied") != 2 {
		t.Errorf("it says %s %v", got, err)
	}
	var found, left wire.Commands
	c.must(http.MethodGet, "/v1/commands", nil, &found)
	if len(found.Commands) != 2 { // the shell, too
		t.Errorf("found is %+v", found)
	}
	c.must(http.MethodPost, "/v1/commands/end", found, &left)
	if alive() || len(left.Commands) != 0 {
		t.Errorf("left is %+v", left)
	}
	c.must(http.MethodPut, "/v1/places/p", shared(g.cfg.Root), nil)
	c.must(http.MethodPut, file("p", "made"), []byte("x"), nil)
	if info, err := os.Stat(filepath.Join(g.cfg.Root, "made")); err != nil || fmt.Sprint(ownerOf(info)) != "4242" {
		t.Errorf("a file that was written: %v", err)
	}
	if err := os.WriteFile(filepath.Join(g.cfg.Root, "ours"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.refused(http.MethodGet, file("p", "ours"), nil, http.StatusForbidden, wire.CodePath)
}

func ownerOf(info os.FileInfo) uint32 { return info.Sys().(*syscall.Stat_t).Uid }
