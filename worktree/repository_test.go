package worktree_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/worktree"
)

func TestOpen(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t *testing.T, dir string)
		want error
		says string
	}{
		{"nothing", func(*testing.T, string) {}, nil, ""},
		{"an empty folder", func(t *testing.T, dir string) { mkdir(t, dir) }, nil, ""},
		{"there already", func(t *testing.T, dir string) { openAt(t, dir) }, nil, ""},
		{"cut off at the beginning", func(t *testing.T, dir string) { write(t, "begun\n", dir, "runtime-repository") }, nil, ""},
		{"cut off in git init", func(t *testing.T, dir string) {
			write(t, "begun\n", dir, "runtime-repository")
			mkdir(t, filepath.Join(dir, "objects"))
		}, nil, ""},
		{"something else", func(t *testing.T, dir string) { write(t, "x", dir, "letter") }, worktree.ErrForeign, "letter"},
		{"another program's repository", func(t *testing.T, dir string) { mkdir(t, dir); git(t, dir, "init", "--bare") }, worktree.ErrForeign, "name another"},
		{"no objects", func(t *testing.T, dir string) { openAt(t, dir); removeAll(t, dir, "objects") }, worktree.ErrDamaged, "move it away"},
		{"a ref that is none", func(t *testing.T, dir string) {
			openAt(t, dir)
			write(t, strings.Repeat("1", 40)+"\n", dir, "refs/heads/broken")
		}, worktree.ErrDamaged, "broken"},
		{"no config", func(t *testing.T, dir string) { openAt(t, dir); removeAll(t, dir, "config"); removeAll(t, dir, "HEAD") }, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "r")
			c.make(t, dir)
			r, err := worktree.Open(t.Context(), worktree.Config{Dir: dir})
			if !errors.Is(err, c.want) {
				t.Fatalf("%v", err)
			}
			if err != nil {
				if !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), dir) {
					t.Errorf("it does not say %q: %v", c.says, err)
				}
				return
			}
			if head, err := r.Begin(t.Context(), "a"); err != nil || head != headOf(t, r, "a") {
				t.Errorf("a branch: %s, %v", head, err)
			}
			sound(t, r)
		})
	}
}

func TestOpenWithoutGit(t *testing.T) {
	dir, path, program := t.TempDir(), os.Getenv("PATH"), gitProgram(t)
	t.Setenv("PATH", dir)
	config := worktree.Config{Dir: filepath.Join(t.TempDir(), "r")}
	if _, err := worktree.Open(t.Context(), config); !errors.Is(err, worktree.ErrNoGit) || !strings.Contains(err.Error(), "install") {
		t.Errorf("no git: %v", err)
	}
	for version, want := range map[string]string{"git version 2.38.9": "too old", "git version 1.99.1 (Apple)": "too old", "hello": "not what a git says", "git version 2.39.0": ""} {
		t.Setenv("PATH", path)
		script := write(t, "#!/bin/sh\n[ \"$1\" = version ] && echo '"+version+"' || exec "+program+" \"$@\"\n", dir, "git")
		if err := os.Chmod(script, 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir)
		_, err := worktree.Open(t.Context(), config)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", version, err)
		}
	}
}

// TestHeads has what the other side can do most with in front.
func TestHeads(t *testing.T) {
	r := open(t)
	var stream strings.Builder
	for i, branch := range []string{"old", "b", "c"} {
		for n := range 40 {
			fmt.Fprintf(&stream, "commit refs/heads/%s\ncommitter a <a@b> %d +0000\ndata 1\nx\n", branch, 1000*i+n)
		}
		fmt.Fprintf(&stream, "reset refs/heads/many/%s\nfrom refs/heads/%[1]s\n", branch)
	}
	for n := range 100 {
		fmt.Fprintf(&stream, "commit refs/heads/z/%d\ncommitter a <a@b> %d +0000\ndata 1\nx\n", n, 10+n)
	}
	list := write(t, stream.String(), t.TempDir(), "stream")
	if out, err := exec.Command("sh", "-c", "git --git-dir="+r.Dir()+" fast-import --quiet <"+list).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	old, b, c := headOf(t, r, "old"), headOf(t, r, "b"), headOf(t, r, "c")
	for _, is := range []struct {
		of   []string
		want []string
	}{{nil, []string{c, b, old}}, {[]string{"old", "b"}, []string{old, b, c}}, {[]string{"none"}, []string{c, b, old}}} {
		heads, err := r.Heads(t.Context(), is.of...)
		if err != nil || len(heads) > 64 || strings.Join(heads[:2], " ") != strings.Join(is.want[:2], " ") {
			t.Errorf("%v: %v, %v", is.of, heads, err)
		}
	}
}

func TestBranch(t *testing.T) {
	r, tree := begun(t, "a")
	write(t, "1", tree.Dir(), "f")
	one := commit(t, tree).Head
	if err := r.Branch(t.Context(), "b", strings.Repeat("1", 40)); !errors.Is(err, worktree.ErrMissing) {
		t.Errorf("at a commit that is not here: %v", err)
	}
	for _, wrong := range []string{"HEAD", "--all", one[:20], one + "^", ""} {
		if err := r.Branch(t.Context(), "b", wrong); err == nil {
			t.Errorf("%q is taken for a commit", wrong)
		}
	}
	if err := r.Branch(t.Context(), "b", one); err != nil || headOf(t, r, "b") != one {
		t.Errorf("b: %v", err)
	}
	if err := r.Drop(t.Context(), "a"); err == nil {
		t.Error("a branch is gone that has a tree")
	}
	if err := errors.Join(tree.Remove(t.Context()), r.Drop(t.Context(), "a"), r.Drop(t.Context(), "a")); err != nil {
		t.Error(err)
	}
	if head := headOf(t, r, "a"); head != "" {
		t.Errorf("a dropped branch is at %s", head)
	}
	sound(t, r)
}

func mkdir(tb testing.TB, path string) {
	tb.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		tb.Fatal(err)
	}
}

func removeAll(tb testing.TB, path ...string) {
	tb.Helper()
	if err := os.RemoveAll(filepath.Join(path...)); err != nil {
		tb.Fatal(err)
	}
}
