package worktree_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/worktree"
)

// TestCommit has what a person would get, and the branch has it.
func TestCommit(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, dir string)
		want   string // files, beside those that were there: f, d/f and .gitignore
		same   bool
		nested string
	}{
		{"nothing", func(*testing.T, string) {}, "100644 .gitignore\n100644 d/f\n100644 f", true, ""},
		{"ignored", func(t *testing.T, dir string) { write(t, "x", dir, "x.log") }, "100644 .gitignore\n100644 d/f\n100644 f", true, ""},
		{"new", func(t *testing.T, dir string) { write(t, "x", dir, "n/e/w") }, "100644 .gitignore\n100644 d/f\n100644 f\n100644 n/e/w", false, ""},
		{"removed", func(t *testing.T, dir string) { removeAll(t, dir, "d") }, "100644 .gitignore\n100644 f", false, ""},
		{"executable", func(t *testing.T, dir string) { chmod(t, 0o755, dir, "f") }, "100644 .gitignore\n100644 d/f\n100755 f", false, ""},
		{"a file becomes a folder", func(t *testing.T, dir string) { removeAll(t, dir, "f"); write(t, "x", dir, "f/g") }, "100644 .gitignore\n100644 d/f\n100644 f/g", false, ""},
		{"a folder becomes a file", func(t *testing.T, dir string) { removeAll(t, dir, "d"); write(t, "x", dir, "d") }, "100644 .gitignore\n100644 d\n100644 f", false, ""},
		{"a folder becomes a link", func(t *testing.T, dir string) { removeAll(t, dir, "d"); symlink(t, "/etc", dir, "d") }, "100644 .gitignore\n120000 d\n100644 f", false, ""},
		{"a file becomes a pipe", func(t *testing.T, dir string) {
			removeAll(t, dir, "f")
			if err := syscall.Mkfifo(filepath.Join(dir, "f"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "100644 .gitignore\n100644 d/f", false, ""},
		{"a file becomes a repository", func(t *testing.T, dir string) {
			removeAll(t, dir, "f")
			evil(t, filepath.Join(dir, "f"), trap(t))
		}, "100644 .gitignore\n100644 d/f\n100644 f/inside", false, "f"},
		{"cloned", func(t *testing.T, dir string) { git(t, dir, "clone", "--quiet", operators(t), "c/l") },
			"100644 .gitignore\n100644 c/l/.gitignore\n100644 c/l/README\n100644 c/l/cmd/main.go\n100644 d/f\n100644 f", false, "c/l"},
		{"initialized, nothing committed", func(t *testing.T, dir string) {
			write(t, "x", dir, "n/a")
			git(t, filepath.Join(dir, "n"), "init", "--quiet")
		},
			"100644 .gitignore\n100644 d/f\n100644 f\n100644 n/a", false, "n"},
		{"initialized where files are known", func(t *testing.T, dir string) {
			write(t, "x", dir, "d/g")
			git(t, filepath.Join(dir, "d"), "init", "--quiet")
		},
			"100644 .gitignore\n100644 d/f\n100644 d/g\n100644 f", false, ""},
		{"a clone in an ignored folder", func(t *testing.T, dir string) { git(t, dir, "clone", "--quiet", operators(t), "x.log") },
			"100644 .gitignore\n100644 d/f\n100644 f", true, ""},
		{"a clone that git add has taken", func(t *testing.T, dir string) {
			git(t, dir, "clone", "--quiet", operators(t), "c")
			git(t, dir, "add", "c")
		}, "100644 .gitignore\n100644 c/.gitignore\n100644 c/README\n100644 c/cmd/main.go\n100644 d/f\n100644 f", false, "c"},
		{"a merge that was not finished", func(t *testing.T, dir string) {
			git(t, dir, "checkout", "--quiet", "-b", "other", "HEAD~1")
			write(t, "other", dir, "f")
			git(t, dir, "commit", "--quiet", "-am", "other")
			git(t, dir, "checkout", "--quiet", "c")
			if out, err := tryGit(dir, "merge", "other"); err == nil {
				t.Fatal(out)
			}
		}, "100644 .gitignore\n100644 d/f\n100644 f", false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, tree := begun(t, "c")
			write(t, "0", tree.Dir(), "f")
			commit(t, tree)
			write(t, "1", tree.Dir(), "f")
			write(t, "1", tree.Dir(), "d/f")
			write(t, "*.log\n", tree.Dir(), ".gitignore")
			before := commit(t, tree).Head
			c.change(t, tree.Dir())
			done := commit(t, tree)
			if done.Changed == c.same || (done.Head == before) != c.same || headOf(t, r, "c") != done.Head {
				t.Errorf("%+v", done)
			}
			if have := files(t, r, done.Head); have != c.want {
				t.Errorf("the files:\n%s", have)
			}
			if strings.Join(done.Nested, " ") != c.nested {
				t.Errorf("nested: %q", done.Nested)
			}
			if n := git(t, r.Dir(), "rev-list", "--count", before+".."+done.Head); !c.same && n != "1" {
				t.Errorf("%s commits", n)
			}
			if again := commit(t, tree); again.Changed || again.Head != done.Head {
				t.Errorf("again: %+v", again)
			}
			sound(t, r)
		})
	}
}

func TestCommitSays(t *testing.T) {
	r, tree := begun(t, "c")
	write(t, "x", tree.Dir(), "f")
	done, err := tree.Commit(t.Context(), worktree.Change{Message: "What was asked\n\n-F /etc/passwd\x00\n", Author: "Ada L <ada@example.org>"})
	if err != nil {
		t.Fatal(err)
	}
	if got := git(t, r.Dir(), "log", "-1", "--format=%an|%ae|%cn|%s|%b", done.Head); got != "Ada L|ada@example.org|Ada L|What was asked|-F /etc/passwd" {
		t.Error(got)
	}
	write(t, "y", tree.Dir(), "f")
	for _, wrong := range []string{"", "Ada", "<ada@example.org>", "Ada <>", "Ada <a@b> <c@d>", "Ada\n <a@b>", "A <a@b>\nx"} {
		if _, err := tree.Commit(t.Context(), worktree.Change{Message: "m", Author: wrong}); err == nil {
			t.Errorf("the author is %q", wrong)
		}
	}
}

// TestCommitsOfCommands are kept, wherever they were made.
func TestCommitsOfCommands(t *testing.T) {
	for _, c := range []struct {
		name    string
		run     func(t *testing.T, dir string)
		parents int
		changed bool
	}{
		{"on the branch", func(t *testing.T, dir string) { git(t, dir, "commit", "--quiet", "--allow-empty", "-m", "theirs") }, 1, false},
		{"on another branch", func(t *testing.T, dir string) {
			git(t, dir, "checkout", "--quiet", "-b", "other")
			git(t, dir, "commit", "--quiet", "--allow-empty", "-m", "theirs")
		}, 1, true},
		{"beside the branch", func(t *testing.T, dir string) {
			git(t, dir, "checkout", "--quiet", "--detach", "HEAD~1")
			git(t, dir, "commit", "--quiet", "--allow-empty", "-m", "theirs")
		}, 2, true},
		{"an older one is looked at", func(t *testing.T, dir string) { git(t, dir, "checkout", "--quiet", "HEAD~1") }, 1, true},
		{"a branch without a commit", func(t *testing.T, dir string) { git(t, dir, "checkout", "--quiet", "--orphan", "new") }, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, tree := begun(t, "c")
			for _, text := range []string{"1", "2"} {
				write(t, text, tree.Dir(), "f")
				commit(t, tree)
			}
			before := headOf(t, r, "c")
			c.run(t, tree.Dir())
			theirs := strings.TrimSpace(git(t, r.Dir(), "log", "--all", "--reflog", "--format=%H", "--grep=theirs"))
			if own, err := tryGit(tree.Dir(), "rev-parse", "--verify", "HEAD"); err == nil && theirs == "" && c.name != "an older one is looked at" {
				theirs = own
			}
			tip := headOf(t, r, "c")
			done := commit(t, tree)
			if done.Changed != c.changed || done.Changed && done.Head == tip {
				t.Errorf("%+v", done)
			}
			for _, commit := range []string{before, theirs} {
				if commit == "" {
					continue
				}
				if _, err := tryGit(r.Dir(), "merge-base", "--is-ancestor", commit, done.Head); err != nil {
					t.Errorf("%s is lost", commit)
				}
			}
			if got := len(strings.Fields(git(t, r.Dir(), "log", "-1", "--format=%P", done.Head))); got != c.parents {
				t.Errorf("%d parents", got)
			}
			if again := commit(t, tree); again.Changed {
				t.Errorf("again: %+v", again)
			}
		})
	}
}

// TestCommitOfWhatCannotBe is all or nothing, or leaves it out.
func TestCommitOfWhatCannotBe(t *testing.T) {
	for _, c := range []struct {
		name, path string
		make       func(t *testing.T, dir string)
		want       error
	}{
		{"too large", "large", func(t *testing.T, dir string) {
			write(t, "", dir, "large")
			if err := os.Truncate(filepath.Join(dir, "large"), 1<<40); err != nil {
				t.Fatal(err)
			}
		}, worktree.ErrTooLarge},
		{"too large now", "f", func(t *testing.T, dir string) { write(t, strings.Repeat("x", 1001), dir, "f") }, worktree.ErrTooLarge},
		{"a name that git does not have", "sub/git~1", func(t *testing.T, dir string) { write(t, "x", dir, "sub/git~1") }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := worktree.Open(t.Context(), worktree.Config{Dir: filepath.Join(t.TempDir(), "r"), MaxFile: 1000})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Begin(t.Context(), "c"); err != nil {
				t.Fatal(err)
			}
			tree := add(t, r, "c")
			write(t, "f", tree.Dir(), "f")
			before := commit(t, tree).Head
			write(t, "other", tree.Dir(), "other")
			c.make(t, tree.Dir())
			change := worktree.Change{Message: "m", Author: author}
			_, err = tree.Commit(t.Context(), change)
			failed, ok := errors.AsType[*worktree.FilesError](err)
			if !ok || len(failed.Left) != 1 || failed.Left[0].Path != c.path || c.want != nil && !errors.Is(err, c.want) || headOf(t, r, "c") != before {
				t.Fatalf("%v", err)
			}
			change.Partly = true
			done, err := tree.Commit(t.Context(), change)
			if err != nil || len(done.Left) != 1 || done.Left[0].Path != c.path || files(t, r, done.Head) != "100644 f\n100644 other" {
				t.Errorf("%+v, %v, %s", done, err, files(t, r, done.Head))
			}
			if got := git(t, r.Dir(), "show", done.Head+":f"); got != "f" {
				t.Errorf("f has %d bytes", len(got))
			}
			sound(t, r)
		})
	}
}

func TestExclude(t *testing.T) {
	r, err := worktree.Open(t.Context(), worktree.Config{Dir: filepath.Join(t.TempDir(), "r"), Exclude: []string{"/everywhere/", "two\nlines"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Begin(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	tree := add(t, r, "c")
	if err := tree.Exclude("/here/", "*.tmp"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"everywhere/a", "here/b", "c.tmp", "sub/here/d", "two", "lines"} {
		write(t, "x", tree.Dir(), name)
	}
	done := commit(t, tree)
	if have := files(t, r, done.Head); have != "100644 lines\n100644 sub/here/d\n100644 two" {
		t.Error(have)
	}
	if err := tree.Reset(t.Context(), done.Head, true); err != nil || read(t, tree.Dir(), "here/b") != "x" || read(t, tree.Dir(), "c.tmp") != "x" {
		t.Errorf("what is excluded was discarded: %v", err)
	}
	if out := git(t, tree.Dir(), "status", "--porcelain"); strings.Contains(out, "everywhere") {
		t.Errorf("a git of a command's own sees %q", out)
	}
}

// TestSubmodule stays what it is, also where a command has fetched its files.
func TestSubmodule(t *testing.T) {
	src, r := operators(t), open(t)
	git(t, src, "submodule", "--quiet", "add", operators(t), "sub")
	git(t, src, "commit", "--quiet", "-m", "second")
	in, err := r.Import(t.Context(), src, "", "c")
	if err != nil {
		t.Fatal(err)
	}
	tree := add(t, r, "c")
	if done := commit(t, tree); done.Changed || len(done.Submodules) > 0 {
		t.Errorf("%+v", done)
	}
	evil(t, filepath.Join(tree.Dir(), "sub"), trap(t))
	done := commit(t, tree)
	if done.Changed || done.Head != in.Head || strings.Join(done.Submodules, " ") != "sub" {
		t.Errorf("%+v", done)
	}
}
