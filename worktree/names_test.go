package worktree_test

import (
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/worktree"
)

func TestBranchOf(t *testing.T) {
	seen := map[string]string{}
	for id, kept := range map[string]bool{
		"7b1c0d8e-0000-4444-8888-000000000000": true, "main": true, "a.b_c-d": true, strings.Repeat("x", 64): true,
		"": false, "-rf": false, "a/b": false, "..": false, "a..b": false, "a.lock": false, "a.": false, ".a": false, "+a": false,
		"a b": false, "ä": false, "a\n": false, "a@{1}": false, strings.Repeat("x", 65): false, "\x00": false, strings.Repeat("x/", 4000): false,
	} {
		branch := worktree.BranchOf(id)
		if got := branch == "conversations/"+id; got != kept {
			t.Errorf("%.80q is %q", id, branch)
		}
		if other, twice := seen[branch]; twice {
			t.Errorf("%q and %q have the same branch", id, other)
		}
		seen[branch] = id
		if _, err := tryGit(t.TempDir(), "check-ref-format", "--branch", branch); err != nil {
			t.Errorf("%.80q: git has no branch named %q", id, branch)
		}
	}
	if got := worktree.BranchOf("a b"); got != "conversations/+c8687a08aa5d6ed2044328fa6a697ab8e96dc342" {
		t.Errorf("a branch is another one than it was: %s", got)
	}
}

// TestBranchNames are those that git has, and no others.
func TestBranchNames(t *testing.T) {
	r := open(t)
	for _, name := range []string{
		"a", "a/b", "conversations/+0a", "ä", "a.b", "a@b", "a{b", "x-", "@a",
		"", "-", "--upload-pack=x", "a..b", "a//b", "/a", "a/", ".a", "a/.b", "a.lock", "a.lock/b", "a.", "a b", "a~1", "a^", "a:b", "a?", "a*", "a[", `a\b`, "a@{b", "a\x7f", "a\tb", "HEAD",
	} {
		_, gits := tryGit(r.Dir(), "check-ref-format", "--branch", name)
		if _, err := r.Head(t.Context(), name); (err == nil) != (gits == nil) {
			t.Errorf("%q: here %v, by git %v", name, err, gits)
		}
	}
	if _, err := r.Head(t.Context(), strings.Repeat("a", 201)); err == nil {
		t.Error("a name is too long for a file, and is taken")
	}
}
