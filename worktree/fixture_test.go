package worktree_test

import (
	"bytes"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
	"github.com/Molecule-AI/molecule-codex-runtime/worktree"
)

const author = "Ada Lovelace <ada@example.org>"

func TestMain(m *testing.M) {
	if part := os.Getenv(partVariable); part != "" {
		otherProcess(part)
		return
	}
	leaktest.Main(m)
}

// git runs git as a person would, and returns what it says.
func git(tb testing.TB, dir string, args ...string) string {
	tb.Helper()
	out, err := tryGit(dir, args...)
	if err != nil {
		tb.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func tryGit(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=Grace", "GIT_AUTHOR_EMAIL=grace@example.org", "GIT_COMMITTER_NAME=Grace", "GIT_COMMITTER_EMAIL=grace@example.org",
		"GIT_CONFIG_COUNT=3", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		"GIT_CONFIG_KEY_1=init.defaultBranch", "GIT_CONFIG_VALUE_1=main", "GIT_CONFIG_KEY_2=protocol.file.allow", "GIT_CONFIG_VALUE_2=always",
	}
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// write writes a file, and the folders on the way to it.
func write(tb testing.TB, text string, path ...string) string {
	tb.Helper()
	name := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
	return name
}

func read(tb testing.TB, path ...string) string {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

// operators makes a repository of an operator's, with a working copy.
func operators(tb testing.TB) string {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "project")
	write(tb, "hello\n", dir, "README")
	write(tb, "package main\n", dir, "cmd/main.go")
	write(tb, "*.log\n", dir, ".gitignore")
	git(tb, dir, "init", "--quiet")
	git(tb, dir, "add", "-A")
	git(tb, dir, "commit", "--quiet", "-m", "first")
	return dir
}

func open(tb testing.TB) *worktree.Repository {
	tb.Helper()
	return openAt(tb, filepath.Join(tb.TempDir(), "repository"))
}

func openAt(tb testing.TB, dir string) *worktree.Repository {
	tb.Helper()
	r, err := worktree.Open(tb.Context(), worktree.Config{Dir: dir, Logger: slog.New(slog.NewTextHandler(tb.Output(), nil))})
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// begun is a repository with a branch that has no files, and its tree.
func begun(tb testing.TB, branch string) (*worktree.Repository, *worktree.Tree) {
	tb.Helper()
	r := open(tb)
	if _, err := r.Begin(tb.Context(), branch); err != nil {
		tb.Fatal(err)
	}
	return r, add(tb, r, branch)
}

func add(tb testing.TB, r *worktree.Repository, branch string) *worktree.Tree {
	tb.Helper()
	t, err := r.Add(tb.Context(), branch, filepath.Join(tb.TempDir(), "tree"))
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

func commit(tb testing.TB, t *worktree.Tree) worktree.Committed {
	tb.Helper()
	done, err := t.Commit(tb.Context(), worktree.Change{Message: "a turn", Author: author})
	if err != nil {
		tb.Fatal(err)
	}
	return done
}

func headOf(tb testing.TB, r *worktree.Repository, branch string) string {
	tb.Helper()
	head, err := r.Head(tb.Context(), branch)
	if err != nil {
		tb.Fatal(err)
	}
	return head
}

func bundle(tb testing.TB, r *worktree.Repository, branch string, have ...string) []byte {
	tb.Helper()
	var out bytes.Buffer
	if err := r.Bundle(tb.Context(), &out, branch, have); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func absorb(tb testing.TB, r *worktree.Repository, branch string, text []byte) string {
	tb.Helper()
	head, err := r.Absorb(tb.Context(), bytes.NewReader(text), branch, 1<<30)
	if err != nil {
		tb.Fatal(err)
	}
	return head
}

// files are those of a commit, with their modes.
func files(tb testing.TB, r *worktree.Repository, commit string) string {
	tb.Helper()
	var names []string
	for line := range strings.SplitSeq(git(tb, r.Dir(), "ls-tree", "-r", commit), "\n") {
		if about, name, ok := strings.Cut(line, "\t"); ok {
			names = append(names, about[:6]+" "+name)
		}
	}
	return strings.Join(names, "\n")
}

func fsck(tb testing.TB, r *worktree.Repository) {
	tb.Helper()
	if out, err := tryGit(r.Dir(), "fsck", "--full", "--strict", "--no-dangling"); err != nil {
		tb.Errorf("git fsck: %v\n%s", err, out)
	}
}

// sound sees that git finds nothing wrong in a repository, and that nothing is left in it of what came in.
func sound(tb testing.TB, r *worktree.Repository) {
	tb.Helper()
	fsck(tb, r)
	left, _ := filepath.Glob(filepath.Join(r.Dir(), "runtime-incoming", "*"))
	if len(left) > 0 {
		tb.Errorf("there is left: %q", left)
	}
}

// gitProgram is where git is, for a script in its place.
func gitProgram(tb testing.TB) string {
	tb.Helper()
	path, err := exec.LookPath("git")
	if err != nil {
		tb.Fatal(err)
	}
	return path
}
