package worktree_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/worktree"
)

// TestThereAndBack has a branch go from one repository to another for several turns.
func TestThereAndBack(t *testing.T) {
	runtime, machine := open(t), open(t)
	if _, err := runtime.Import(t.Context(), operators(t), "", "c"); err != nil {
		t.Fatal(err)
	}
	absorb(t, machine, "c", bundle(t, runtime, "c"))
	tree := add(t, machine, "c")
	for turn := range 5 {
		write(t, strings.Repeat("x", 1000), tree.Dir(), fmt.Sprintf("turn %d/a", turn))
		done := commit(t, tree)
		back := bundle(t, machine, "c", headOf(t, runtime, "c"))
		if len(back) > 2000 {
			t.Errorf("turn %d has %d bytes: what the other side has is in it", turn, len(back))
		}
		if head := absorb(t, runtime, "c", back); head != done.Head || headOf(t, runtime, "c") != head {
			t.Fatalf("turn %d: %s, and not %s", turn, head, done.Head)
		}
		if err := runtime.Bundle(t.Context(), io.Discard, "c", []string{done.Head}); !errors.Is(err, worktree.ErrNothing) {
			t.Errorf("nothing is new: %v", err)
		}
	}
	// Both go on by themselves, and the machine's is taken over by the runtime's.
	other := add(t, runtime, "c")
	write(t, "runtime's", other.Dir(), "who")
	write(t, "machine's", tree.Dir(), "who")
	theirs, ours := commit(t, other).Head, commit(t, tree).Head
	heads, err := machine.Heads(t.Context(), "c")
	if err != nil {
		t.Fatal(err)
	}
	if head := absorb(t, machine, "c", bundle(t, runtime, "c", heads...)); head != theirs {
		t.Errorf("absorbed is %s", head)
	}
	if kept := git(t, machine.Dir(), "rev-parse", "refs/replaced/c/"+ours[:12]); kept != ours {
		t.Errorf("what was replaced is %s", kept)
	}
	if _, err := tree.Commit(t.Context(), worktree.Change{Message: "m", Author: author}); !errors.Is(err, worktree.ErrBehind) {
		t.Errorf("the files are those of the other commit: %v", err)
	}
	if err := tree.Reset(t.Context(), theirs, false); err != nil || read(t, tree.Dir(), "who") != "runtime's" {
		t.Errorf("reset: %v", err)
	}
	if done := commit(t, tree); done.Changed || done.Head != theirs {
		t.Errorf("nothing has changed: %+v", done)
	}
	sound(t, runtime)
	sound(t, machine)
}

// TestAbsorbTakesOneBranch of those in a bundle.
func TestAbsorbTakesOneBranch(t *testing.T) {
	src := operators(t)
	git(t, src, "branch", "other")
	path := filepath.Join(t.TempDir(), "b")
	git(t, src, "bundle", "create", path, "other", "main")
	r := open(t)
	absorb(t, r, "main", []byte(read(t, path)))
	if headOf(t, r, "main") == "" || headOf(t, r, "other") != "" {
		t.Error(git(t, r.Dir(), "for-each-ref"))
	}
}

// TestAbsorbOfWhatIsWrong leaves the repository as it was.
func TestAbsorbOfWhatIsWrong(t *testing.T) {
	src := operators(t)
	first := git(t, src, "rev-parse", "HEAD")
	write(t, strings.Repeat("0123456789abcdef", 8000), src, "big")
	git(t, src, "add", "-A")
	git(t, src, "commit", "--quiet", "-m", "second")
	text := func(revisions ...string) []byte {
		path := filepath.Join(t.TempDir(), "b")
		git(t, src, append([]string{"bundle", "create", path}, revisions...)...)
		return []byte(read(t, path))
	}
	whole := text("main")
	changed := bytes.Clone(whole)
	changed[len(changed)-40] ^= 1
	header, pack, _ := bytes.Cut(whole, []byte("\n\n"))
	for _, c := range []struct {
		name  string
		text  []byte
		limit int64
		want  error
	}{
		{"nothing", nil, 1 << 20, worktree.ErrInvalid},
		{"no bundle", []byte("GET / HTTP/1.1\r\n\r\n"), 1 << 20, worktree.ErrInvalid},
		{"cut in its header", whole[:30], 1 << 20, worktree.ErrInvalid},
		{"cut before its pack", append(bytes.Clone(header), "\n\n"...), 1 << 20, worktree.ErrInvalid},
		{"cut in its pack", whole[:len(whole)-100], 1 << 20, worktree.ErrInvalid},
		{"a byte is another", changed, 1 << 20, worktree.ErrInvalid},
		{"another commit", bytes.Replace(whole, []byte(git(t, src, "rev-parse", "HEAD")), bytes.Repeat([]byte("1"), 40), 1), 1 << 20, worktree.ErrInvalid},
		{"too large", whole, int64(len(whole) - 1), worktree.ErrTooLarge},
		{"on what is not here", text("main", "^"+first), 1 << 20, worktree.ErrMissing},
		{"without the branch", append([]byte("# v2 git bundle\n"+first+" refs/heads/other\n\n"), pack...), 1 << 20, worktree.ErrInvalid},
		{"a filter", []byte("# v3 git bundle\n@filter=blob:none\n" + first + " refs/heads/main\n\n"), 1 << 20, worktree.ErrInvalid},
		{"a header without an end", append([]byte("# v2 git bundle\n"), bytes.Repeat([]byte(first+" refs/heads/a\n"), 20000)...), 1 << 30, worktree.ErrInvalid},
		{"a line without an end", append([]byte("# v2 git bundle\n"), bytes.Repeat([]byte("a"), 1<<20)...), 1 << 30, worktree.ErrInvalid},
		{"an option", []byte("# v2 git bundle\n---help\n" + first + " refs/heads/main\n\n"), 1 << 20, worktree.ErrInvalid},
	} {
		r := open(t)
		before := size(t, r.Dir())
		_, err := r.Absorb(t.Context(), bytes.NewReader(c.text), "main", c.limit)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if headOf(t, r, "main") != "" || size(t, filepath.Join(r.Dir(), "objects")) > 0 || size(t, r.Dir()) != before {
			t.Errorf("%s: something is left", c.name)
		}
		sound(t, r)
	}
	r := open(t)
	if _, err := r.Absorb(t.Context(), bytes.NewReader(whole), "main", int64(len(whole))); err != nil {
		t.Errorf("just as large as it may be: %v", err)
	}
}

// TestAbsorbHoldsToRules has objects that git would not make, and that harm those who check them out.
func TestAbsorbHoldsToRules(t *testing.T) {
	for name, entry := range map[string]string{
		"a hook": "100755 blob %s\t.git", "upwards": "100644 blob %s\t..", "a submodule that is an option": "100644 blob %s\t.gitmodules",
		"a .git of another system": "100644 blob %s\tGIT~1",
	} {
		src := operators(t)
		content := write(t, "[submodule \"a\"]\n\tpath = a\n\turl = --upload-pack=touch\n", src, "content")
		blob := git(t, src, "hash-object", "-w", content)
		list := write(t, fmt.Sprintf(entry, blob)+"\n", src, "list")
		mktree := exec.Command("sh", "-c", "git mktree <"+list)
		mktree.Dir = src
		out, err := mktree.Output()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		tree := strings.TrimSpace(string(out))
		head := git(t, src, "commit-tree", tree, "-m", "x")
		git(t, src, "update-ref", "refs/heads/evil", head)
		path := filepath.Join(t.TempDir(), "b")
		git(t, src, "bundle", "create", path, "evil")
		r := open(t)
		if _, err := r.Absorb(t.Context(), strings.NewReader(read(t, path)), "evil", 1<<20); !errors.Is(err, worktree.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
		if size(t, filepath.Join(r.Dir(), "objects")) > 0 {
			t.Errorf("%s: something is left", name)
		}
	}
}

// TestAbsorbEnds with its context, also while the other side sends nothing more.
func TestAbsorbEnds(t *testing.T) {
	r := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	go func() {
		_, _ = in.Write([]byte("# v2 git bundle\n" + strings.Repeat("1", 40) + " refs/heads/main\n\nPACK"))
		cancel()
		_, _ = in.Write([]byte("more"))
		_ = in.Close()
	}()
	if _, err := r.Absorb(ctx, out, "main", 1<<20); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	_ = out.Close()
	sound(t, r)
}

// size is what files have together, locks without content among them.
func size(tb testing.TB, dir string) (n int64) {
	tb.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		n += info.Size()
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

// TestAbsorbOfWhatIsNotWhole: a branch at a commit that is here, and of which something is missing.
func TestAbsorbOfWhatIsNotWhole(t *testing.T) {
	src, r := operators(t), open(t)
	path := filepath.Join(t.TempDir(), "b")
	git(t, src, "bundle", "create", path, "main")
	_, pack, _ := strings.Cut(read(t, path), "\n\n")
	lone := write(t, "tree "+strings.Repeat("1", 40)+"\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\nx\n", t.TempDir(), "commit")
	head := git(t, r.Dir(), "hash-object", "-t", "commit", "-w", "--literally", lone)
	text := "# v2 git bundle\n" + head + " refs/heads/main\n\n" + pack
	if _, err := r.Absorb(t.Context(), strings.NewReader(text), "main", 1<<20); !errors.Is(err, worktree.ErrInvalid) {
		t.Errorf("%v", err)
	}
	if headOf(t, r, "main") != "" {
		t.Error("there is a branch")
	}
}
