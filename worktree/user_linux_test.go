package worktree_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/worktree"
)

// TestUser does all of it as the user that codex runs as, who cannot be led to what is ours.
func TestUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("this takes root")
	}
	user, err := asuser.Lookup("4242:4242")
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.MkdirTemp("/tmp", "worktree-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	chmod(t, 0o777, root)
	src := operators(t)
	for dir := src; dir != "/"; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && dir != "/tmp" {
			chmod(t, info.Mode().Perm()|0o055, dir)
		}
	}
	secret := write(t, "ours", t.TempDir(), "secret")
	chmod(t, 0o600, secret)
	r, err := worktree.Open(t.Context(), worktree.Config{Dir: filepath.Join(root, "state/r"), User: user})
	if err != nil {
		t.Fatal(err)
	}
	in, err := r.Import(t.Context(), src, "", "c")
	if err != nil {
		t.Fatal(err)
	}
	tree, err := r.Add(t.Context(), "c", filepath.Join(root, "tree"))
	if err != nil {
		t.Fatal(err)
	}
	err = user.Do(func() error { return os.WriteFile(filepath.Join(tree.Dir(), "theirs"), []byte("x"), 0o600) })
	if err != nil {
		t.Fatal(err)
	}
	write(t, "x", tree.Dir(), "ours")
	chmod(t, 0o600, tree.Dir(), "ours")
	done, err := tree.Commit(t.Context(), worktree.Change{Message: "m", Author: author, Partly: true})
	if err != nil || len(done.Left) != 1 || done.Left[0].Path != "ours" {
		t.Errorf("%+v, %v", done, err)
	}
	text := bundle(t, r, "c", in.Head)
	if err := r.Branch(t.Context(), "c", in.Head); err != nil {
		t.Fatal(err)
	}
	if head := absorb(t, r, "c", text); head != done.Head {
		t.Errorf("absorbed is %s", head)
	}
	err = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == root || path == filepath.Join(tree.Dir(), "ours") {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Sys().(*syscall.Stat_t).Uid != user.UID {
			t.Errorf("%s is not the user's", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Remove(t.Context()); err != nil {
		t.Error(err)
	}
	sound(t, r)
}
