package worktree_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/worktree"
)

// TestAdd finds, repairs or makes a tree; it takes nothing away.
func TestAdd(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t *testing.T, r *worktree.Repository, dir string) // what happens to a tree that has an uncommitted change
		want error
		kept bool // the change
	}{
		{"it is there", func(*testing.T, *worktree.Repository, string) {}, nil, true},
		{"its folder is gone", func(t *testing.T, _ *worktree.Repository, dir string) { removeAll(t, dir) }, nil, false},
		{"its .git is gone", func(t *testing.T, _ *worktree.Repository, dir string) { removeAll(t, dir, ".git") }, nil, true},
		{"the repository's part is gone", func(t *testing.T, r *worktree.Repository, _ string) { removeAll(t, r.Dir(), "worktrees") }, nil, true},
		{"its index is gone", func(t *testing.T, r *worktree.Repository, _ string) { removeAll(t, admin(t, r), "index") }, nil, true},
		{"its index is broken", func(t *testing.T, r *worktree.Repository, _ string) { write(t, "DIRC", admin(t, r), "index") }, nil, true},
		{"its index has other bytes", func(t *testing.T, r *worktree.Repository, _ string) {
			write(t, strings.Repeat("x", 1000), admin(t, r), "index")
		}, nil, true},
		{"both are gone", func(t *testing.T, r *worktree.Repository, dir string) {
			removeAll(t, dir)
			removeAll(t, r.Dir(), "worktrees")
		}, nil, false},
		{"cut off while it was made", func(t *testing.T, r *worktree.Repository, dir string) {
			removeAll(t, dir)
			removeAll(t, admin(t, r), "index")
			mkdir(t, dir)
			write(t, strings.Repeat("1", 40), admin(t, r), "runtime-resetting")
		}, nil, false},
		{"another folder", func(t *testing.T, r *worktree.Repository, dir string) {
			removeAll(t, dir)
			removeAll(t, r.Dir(), "worktrees")
			write(t, "mine", dir, "letter")
		}, worktree.ErrForeign, false},
		{"another's clone", func(t *testing.T, r *worktree.Repository, dir string) {
			removeAll(t, dir)
			removeAll(t, r.Dir(), "worktrees")
			git(t, r.Dir(), "clone", "--quiet", operators(t), dir)
		}, worktree.ErrForeign, false},
		{"a file", func(t *testing.T, _ *worktree.Repository, dir string) { removeAll(t, dir); write(t, "mine", dir) }, worktree.ErrForeign, false},
		{"a link", func(t *testing.T, _ *worktree.Repository, dir string) {
			removeAll(t, dir)
			symlink(t, t.TempDir(), dir)
		}, worktree.ErrForeign, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, tree := begun(t, "c")
			write(t, "1", tree.Dir(), "f")
			head := commit(t, tree).Head
			write(t, "2", tree.Dir(), "f")
			write(t, "new", tree.Dir(), "new")
			c.make(t, r, tree.Dir())
			before, _ := tryGit("/", "hash-object", filepath.Join(tree.Dir(), "letter"))
			again, err := r.Add(t.Context(), "c", tree.Dir())
			if !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), tree.Dir()) {
				t.Fatalf("%v", err)
			}
			if after, _ := tryGit("/", "hash-object", filepath.Join(tree.Dir(), "letter")); after != before {
				t.Error("it was changed")
			}
			if err != nil {
				return
			}
			want := "1"
			if c.kept {
				want = "2"
			}
			if read(t, again.Dir(), "f") != want {
				t.Errorf("the file has %q", read(t, again.Dir(), "f"))
			}
			done := commit(t, again)
			if done.Changed != c.kept || !c.kept && done.Head != head {
				t.Errorf("%+v", done)
			}
			if got := strings.Contains(files(t, r, done.Head), "new"); got != c.kept {
				t.Error(files(t, r, done.Head))
			}
			if out := git(t, again.Dir(), "status", "--porcelain"); out != "" {
				t.Errorf("a git of a command's own says %q", out)
			}
			sound(t, r)
		})
	}
}

func TestAddElsewhere(t *testing.T) {
	r, tree := begun(t, "c")
	other := filepath.Join(t.TempDir(), "other")
	if _, err := r.Add(t.Context(), "c", other); !errors.Is(err, worktree.ErrElsewhere) || !strings.Contains(err.Error(), tree.Dir()) {
		t.Errorf("a second tree: %v", err)
	}
	if _, err := r.Add(t.Context(), "none", other); !errors.Is(err, worktree.ErrNoBranch) {
		t.Errorf("no branch: %v", err)
	}
	for _, dir := range []string{"relative", r.Dir(), filepath.Join(r.Dir(), "in"), filepath.Dir(r.Dir())} {
		if _, err := r.Add(t.Context(), "c", dir); err == nil {
			t.Errorf("a tree at %s", dir)
		}
	}
	write(t, "x", tree.Dir(), "f")
	head := commit(t, tree).Head
	if err := tree.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(tree.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is there: %v", err)
	}
	if _, err := tree.Commit(t.Context(), worktree.Change{Message: "m", Author: author}); err == nil {
		t.Error("a tree that was removed is committed")
	}
	again, err := r.Add(t.Context(), "c", other)
	if err != nil || read(t, again.Dir(), "f") != "x" || headOf(t, r, "c") != head {
		t.Errorf("elsewhere: %v", err)
	}
}

func TestReset(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, dir string)
		dirty  bool
	}{
		{"clean", func(*testing.T, string) {}, false},
		{"touched", func(t *testing.T, dir string) { write(t, "2", dir, "f") }, false},
		{"ignored", func(t *testing.T, dir string) { write(t, "x", dir, "x.log") }, false},
		{"changed", func(t *testing.T, dir string) { write(t, "3", dir, "f") }, true},
		{"removed", func(t *testing.T, dir string) { removeAll(t, dir, "f") }, true},
		{"new", func(t *testing.T, dir string) { write(t, "x", dir, "new/f") }, true},
		{"a nested repository", func(t *testing.T, dir string) { evil(t, filepath.Join(dir, "n"), trap(t)) }, true},
		{"a mode", func(t *testing.T, dir string) { chmod(t, 0o755, dir, "f") }, true},
		{"staged", func(t *testing.T, dir string) {
			write(t, "3", dir, "f")
			git(t, dir, "add", "f")
			removeAll(t, dir, "f")
			write(t, "2", dir, "f")
		}, false},
		{"only the .git of a repository", func(t *testing.T, dir string) {
			mkdir(t, filepath.Join(dir, "n"))
			git(t, filepath.Join(dir, "n"), "init", "--quiet")
		}, false},
		{"a commit elsewhere", func(t *testing.T, dir string) {
			git(t, dir, "checkout", "--quiet", "--detach")
			git(t, dir, "commit", "--quiet", "--allow-empty", "-m", "x")
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, tree := begun(t, "c")
			write(t, "*.log\n", tree.Dir(), ".gitignore")
			write(t, "1", tree.Dir(), "f")
			first := commit(t, tree).Head
			write(t, "2", tree.Dir(), "f")
			write(t, "", tree.Dir(), ".gitignore")
			commit(t, tree)
			write(t, "*.log\n", tree.Dir(), ".gitignore")
			write(t, "g", tree.Dir(), "g")
			commit(t, tree)
			c.change(t, tree.Dir())
			err := tree.Reset(t.Context(), first, false)
			if errors.Is(err, worktree.ErrDirty) != c.dirty || !c.dirty && err != nil {
				t.Fatalf("%v", err)
			}
			if c.dirty {
				if err := tree.Reset(t.Context(), first, true); err != nil {
					t.Fatal(err)
				}
			}
			have, _ := filepath.Glob(filepath.Join(tree.Dir(), "[^.]*"))
			for i := range have {
				have[i] = filepath.Base(have[i])
			}
			want := "f"
			if c.name == "ignored" {
				want = "f x.log"
			} else if strings.Contains(c.name, "only") {
				want = "f n"
			}
			if strings.Join(have, " ") != want || read(t, tree.Dir(), "f") != "1" {
				t.Errorf("there is %v", have)
			}
			if out := git(t, tree.Dir(), "status", "--porcelain", "--branch"); strings.TrimSuffix(out, "\n?? n/") != "## c" {
				t.Errorf("a git of a command's own says %q", out)
			}
			if done := commit(t, tree); done.Changed || done.Head != first {
				t.Errorf("%+v", done)
			}
		})
	}
}

// TestResetCutOff is finished by the next Add, and no commit is made before.
func TestResetCutOff(t *testing.T) {
	r, tree := begun(t, "c")
	write(t, "1", tree.Dir(), "f")
	first := commit(t, tree).Head
	write(t, "2", tree.Dir(), "f")
	write(t, "2", tree.Dir(), "g")
	second := commit(t, tree).Head
	// The branch is at the first commit, and so is one of two files.
	git(t, r.Dir(), "update-ref", "refs/heads/c", first)
	write(t, first+"\n", admin(t, r), "runtime-resetting")
	write(t, "1", tree.Dir(), "f")
	write(t, "half", tree.Dir(), "half")
	if _, err := tree.Commit(t.Context(), worktree.Change{Message: "m", Author: author}); !errors.Is(err, worktree.ErrBehind) {
		t.Errorf("a commit of what is half of it: %v", err)
	}
	again, err := r.Add(t.Context(), "c", tree.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if done := commit(t, again); done.Changed || done.Head != first || files(t, r, done.Head) != "100644 f" {
		t.Errorf("%+v", done)
	}
	if left, _ := filepath.Glob(filepath.Join(tree.Dir(), "[^.]*")); len(left) != 1 {
		t.Errorf("there is %q", left)
	}
	_ = second
}

func TestDiff(t *testing.T) {
	r, tree := begun(t, "c")
	write(t, "1\n", tree.Dir(), "f")
	write(t, "*.log\n", tree.Dir(), ".gitignore")
	first := commit(t, tree).Head
	write(t, "2\n", tree.Dir(), "f")
	commit(t, tree)
	write(t, "3\n", tree.Dir(), "f")
	write(t, "new\n", tree.Dir(), "new")
	write(t, "x\n", tree.Dir(), "x.log")
	evil(t, filepath.Join(tree.Dir(), "nested"), trap(t))
	before, objects := git(t, tree.Dir(), "status", "--porcelain"), size(t, filepath.Join(r.Dir(), "objects"))
	var out strings.Builder
	if err := tree.Diff(t.Context(), &out, first); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"-1\n+3\n", "+new\n", "+++ b/nested/inside\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("there is no %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "x.log") || strings.Contains(out.String(), ".seed") {
		t.Error(out.String())
	}
	if after := git(t, tree.Dir(), "status", "--porcelain"); after != before || size(t, filepath.Join(r.Dir(), "objects")) != objects {
		t.Errorf("something has changed: %s", after)
	}
	failed := errors.New("the reader is gone")
	if err := tree.Diff(t.Context(), writerFunc(func([]byte) (int, error) { return 0, failed }), first); !errors.Is(err, failed) {
		t.Errorf("%v", err)
	}
	sound(t, r)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestTreesShareObjects: a hundred trees of a repository take no room in it, and can be worked on at once.
func TestTreesShareObjects(t *testing.T) {
	src := operators(t)
	write(t, strings.Repeat("a line of a file\n", 50000), src, "large")
	git(t, src, "add", "-A")
	git(t, src, "commit", "--quiet", "-m", "large")
	r := open(t)
	in, err := r.Import(t.Context(), src, "", "main")
	if err != nil {
		t.Fatal(err)
	}
	const many = 100
	objects := filepath.Join(r.Dir(), "objects")
	before, root := size(t, objects), t.TempDir()
	trees := make([]*worktree.Tree, many)
	atOnce(t, many, func(i int) error {
		branch := fmt.Sprintf("c/%d", i)
		err := r.Branch(t.Context(), branch, in.Head)
		if err == nil {
			trees[i], err = r.Add(t.Context(), branch, filepath.Join(root, fmt.Sprint(i)))
		}
		return err
	})
	if after := size(t, objects); after != before {
		t.Errorf("the objects had %d bytes and have %d", before, after)
	}
	atOnce(t, many, func(i int) error {
		write(t, fmt.Sprint(i), trees[i].Dir(), "mine")
		done, err := trees[i].Commit(t.Context(), worktree.Change{Message: "m", Author: author})
		if err == nil && !done.Changed {
			err = errors.New("nothing has changed")
		}
		return err
	})
	t.Logf("objects: %d bytes before, %d after a commit in each of %d trees", before, size(t, objects), many)
	for i, tree := range trees {
		if got := git(t, r.Dir(), "show", tree.Branch()+":mine"); got != fmt.Sprint(i) {
			t.Errorf("%d has %q", i, got)
		}
	}
	sound(t, r)
}

func atOnce(tb testing.TB, n int, f func(i int) error) {
	tb.Helper()
	var all sync.WaitGroup
	slots := make(chan struct{}, 8)
	for i := range n {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if err := f(i); err != nil {
				tb.Error(err)
			}
		})
	}
	all.Wait()
}

// admin is the one folder that a repository has for a tree.
func admin(tb testing.TB, r *worktree.Repository) string {
	tb.Helper()
	all, _ := filepath.Glob(filepath.Join(r.Dir(), "worktrees/*"))
	if len(all) != 1 {
		tb.Fatalf("there are %q", all)
	}
	return all[0]
}

func chmod(tb testing.TB, mode os.FileMode, path ...string) {
	tb.Helper()
	if err := os.Chmod(filepath.Join(path...), mode); err != nil {
		tb.Fatal(err)
	}
}
