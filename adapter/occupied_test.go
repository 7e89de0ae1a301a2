package adapter_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

// TestOccupy puts something into a .codex, and changes none that has something in it, or is
// something else.
func TestOccupy(t *testing.T) {
	for name, c := range map[string]struct {
		before func(dir string) error
		want   string // of .codex
	}{
		"none":  {func(string) error { return nil }, ".gitignore"},
		"empty": {func(dir string) error { return os.Mkdir(filepath.Join(dir, ".codex"), 0o700) }, ".gitignore"},
		"full":  {func(dir string) error { return os.MkdirAll(filepath.Join(dir, ".codex", "skills"), 0o700) }, "skills"},
		"file":  {func(dir string) error { return os.WriteFile(filepath.Join(dir, ".codex"), nil, 0o600) }, ""},
		"link":  {func(dir string) error { return os.Symlink(os.TempDir(), filepath.Join(dir, ".codex")) }, ""},
		"empty link": {func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, "empty"), 0o700), os.Symlink("empty", filepath.Join(dir, ".codex")))
		}, ""},
		"pipe": {func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, ".codex"), 0o600) }, ""},
		"loop": {func(dir string) error { return os.Symlink(".codex", filepath.Join(dir, ".codex")) }, ""},
	} {
		dir := t.TempDir()
		if err := c.before(dir); err != nil {
			t.Fatal(err)
		}
		before, _ := os.Lstat(filepath.Join(dir, ".codex"))
		for range 2 {
			if err := adapter.Occupy(dir, nil); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		after, err := os.Lstat(filepath.Join(dir, ".codex"))
		if err != nil || before != nil && !os.SameFile(before, after) {
			t.Errorf("%s: another stands there: %v", name, err)
		}
		if c.want == "" {
			if _, err := os.Lstat(filepath.Join(dir, "empty", ".gitignore")); err == nil {
				t.Errorf("%s: a link was followed", name)
			}
			continue
		}
		entries, _ := fs.ReadDir(os.DirFS(dir), ".codex")
		if c.want != "" && (len(entries) != 1 || entries[0].Name() != c.want) {
			t.Errorf("%s: %v", name, entries)
		}
	}
	if err := adapter.Occupy(filepath.Join(t.TempDir(), "none"), nil); err == nil {
		t.Error("a directory that is not there is no error")
	}
}

// TestOccupyWhereNothingCanBeMade is no failure: a command can close an empty folder, and codex is
// started all the same.
func TestOccupyWhereNothingCanBeMade(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("this takes root")
	}
	base, err := os.MkdirTemp("", "occupied")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	dir := filepath.Join(base, "work")
	if err := errors.Join(os.Chmod(base, 0o755), os.MkdirAll(filepath.Join(dir, ".codex"), 0o755), os.Chown(dir, 4242, 4242),
		os.Chown(filepath.Join(dir, ".codex"), 4242, 4242), os.Chmod(filepath.Join(dir, ".codex"), 0o500)); err != nil {
		t.Fatal(err)
	}
	if err := adapter.Occupy(dir, &asuser.User{Name: "4242", UID: 4242, GID: 4242}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".aws", ".gitignore")); err != nil {
		t.Error("the others are not made:", err)
	}
}

// TestOccupyInARepository: the .git of a repository stays, be it a file or a folder, and a folder below
// it has one that is no repository's.
func TestOccupyInARepository(t *testing.T) {
	repository := t.TempDir()
	dir := filepath.Join(repository, "a", "b")
	if err := errors.Join(os.MkdirAll(filepath.Join(repository, "a", ".git"), 0o700), os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(repository, ".git"), []byte("gitdir: /elsewhere\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(adapter.Occupy(dir, nil), adapter.Occupy(repository, nil)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".codex", ".agents", ".aws", ".git"} {
		for _, at := range []string{dir, repository} {
			if at == repository && name == ".git" {
				continue
			}
			if _, err := os.Stat(filepath.Join(at, name, ".gitignore")); err != nil {
				t.Error(err)
			}
		}
	}
	if text, err := os.ReadFile(filepath.Join(repository, ".git")); err != nil || string(text) != "gitdir: /elsewhere\n" {
		t.Errorf("the repository's own is %q, %v", text, err)
	}
}
