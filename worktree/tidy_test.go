package worktree_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/worktree"
)

// TestTidy packs anew, and takes nothing away.
func TestTidy(t *testing.T) {
	r, tree := begun(t, "c")
	write(t, "1", tree.Dir(), "f")
	first := commit(t, tree).Head
	for i := range 60 {
		write(t, fmt.Sprint(i), tree.Dir(), "f")
		head := commit(t, tree).Head
		if out, err := exec.Command("sh", "-c", "cd "+r.Dir()+" && echo "+head+" | git pack-objects -q objects/pack/pack").CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	head := headOf(t, r, "c")
	if err := r.Branch(t.Context(), "c", first); err != nil { // the others are kept by a ref
		t.Fatal(err)
	}
	removeAll(t, tree.Dir())
	for range 64 {
		r.TurnKept(t.Context())
	}
	if packs, _ := filepath.Glob(filepath.Join(r.Dir(), "objects/pack/*.pack")); len(packs) > 2 {
		t.Errorf("there are %d packs", len(packs))
	}
	if kept := git(t, r.Dir(), "rev-parse", "refs/replaced/c/"+head[:12]); kept != head {
		t.Errorf("kept is %s", kept)
	}
	if again, err := r.Add(t.Context(), "c", tree.Dir()); err != nil || read(t, again.Dir(), "f") != "1" {
		t.Error(err)
	}
	sound(t, r)
}

// TestHalves: what git has begun to write, and left, is taken away when the repository is opened again, and when a commit has found
// no room; what it has written stays.
func TestHalves(t *testing.T) {
	r, tree := begun(t, "c")
	half := filepath.Join(r.Dir(), "objects/pack/tmp_pack_abc")
	leave := func() {
		if err := os.WriteFile(half, []byte("half"), 0o400); err != nil {
			t.Fatal(err)
		}
	}
	gone := func() bool { _, err := os.Lstat(half); return errors.Is(err, os.ErrNotExist) }
	leave()
	tree.Failed(errors.New("it was interrupted"))
	if gone() {
		t.Error("another failure has taken it away")
	}
	tree.Failed(errors.New("fatal: write error: No space left on device"))
	if !gone() {
		t.Error("it stays where there is no room")
	}
	leave()
	if _, err := worktree.Open(t.Context(), worktree.Config{Dir: r.Dir()}); err != nil {
		t.Fatal(err)
	}
	if !gone() {
		t.Error("it stays")
	}
	sound(t, r)
}
