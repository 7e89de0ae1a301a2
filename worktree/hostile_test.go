package worktree_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/worktree"
)

// trap is a file that is there as soon as something has run that is to run it.
func trap(tb testing.TB) string {
	tb.Helper()
	return filepath.Join(tb.TempDir(), "ran")
}

// dangerous are settings by which git runs a program.
func dangerous(ran string) [][2]string {
	runs := func(name string) string { return "sh -c 'echo " + name + " >>" + ran + "; cat'" }
	return [][2]string{
		{"core.fsmonitor", runs("fsmonitor")}, {"core.hooksPath", filepath.Dir(ran)}, {"core.pager", runs("pager")}, {"core.editor", runs("editor")},
		{"core.sshCommand", runs("ssh")}, {"core.askPass", runs("askpass")}, {"core.alternateRefsCommand", runs("alternates")},
		{"core.gitProxy", runs("proxy")}, {"credential.helper", "!" + runs("credential")}, {"diff.external", runs("external")},
		{"filter.evil.clean", runs("clean")}, {"filter.evil.smudge", runs("smudge")}, {"filter.evil.required", "true"},
		{"filter.lfs.process", runs("process")}, {"filter.lfs.clean", runs("clean")}, {"filter.lfs.smudge", runs("smudge")},
		{"diff.evil.textconv", runs("textconv")}, {"diff.evil.command", runs("command")}, {"merge.evil.driver", runs("merge")},
		{"uploadpack.packObjectsHook", runs("packobjects")}, {"commit.gpgSign", "true"}, {"gpg.program", runs("gpg")},
		{"alias.update-index", "!" + runs("alias")}, {"sequence.editor", runs("sequence")}, {"core.untrackedCache", "true"},
		{"submodule.recurse", "true"}, {"protocol.ext.allow", "always"}, {"trailer.x.command", runs("trailer")},
	}
}

// hooks writes all that git knows.
func hooks(tb testing.TB, dir, ran string) {
	tb.Helper()
	for name := range strings.FieldsSeq("pre-commit prepare-commit-msg commit-msg post-commit post-checkout post-index-change reference-transaction " +
		"post-rewrite pre-push pre-receive update post-receive post-update push-to-checkout pre-auto-gc fsmonitor-watchman proc-receive") {
		path := write(tb, "#!/bin/sh\necho "+name+" >>"+ran+"\n", dir, name)
		if err := os.Chmod(path, 0o755); err != nil {
			tb.Fatal(err)
		}
	}
}

// evil makes a repository in which all of it stands, with a commit.
func evil(tb testing.TB, dir, ran string) {
	tb.Helper()
	mkdir(tb, dir)
	git(tb, dir, "init", "--quiet")
	write(tb, "x\n", dir, "inside")
	git(tb, dir, "add", "-A")
	git(tb, dir, "commit", "--quiet", "-m", "x")
	arm(tb, dir, ran)
	write(tb, "changed\n", dir, "inside")
}

// arm has a repository run what is dangerous.
func arm(tb testing.TB, dir, ran string) {
	tb.Helper()
	for _, setting := range dangerous(ran) {
		git(tb, dir, "config", setting[0], setting[1])
	}
	hooks(tb, filepath.Dir(ran), ran)
	gitDir := git(tb, dir, "rev-parse", "--absolute-git-dir")
	hooks(tb, filepath.Join(gitDir, "hooks"), ran)
	write(tb, "* filter=evil diff=evil merge=evil\n", gitDir, "info/attributes")
}

// all does all that can be done with a tree.
func all(tb testing.TB, r *worktree.Repository, tree *worktree.Tree) {
	tb.Helper()
	start := headOf(tb, r, tree.Branch())
	if err := tree.Diff(tb.Context(), io.Discard, start); err != nil {
		tb.Error(err)
	}
	head := commit(tb, tree).Head
	if _, err := r.Add(tb.Context(), tree.Branch(), tree.Dir()); err != nil {
		tb.Error(err)
	}
	absorb(tb, open(tb), tree.Branch(), bundle(tb, r, tree.Branch()))
	write(tb, "more\n", tree.Dir(), "more")
	if err := tree.Reset(tb.Context(), head, true); err != nil {
		tb.Error(err)
	}
	for _, commit := range []string{start, head} {
		if err := tree.Reset(tb.Context(), commit, false); err != nil {
			tb.Error(err)
		}
	}
	if err := r.Tidy(tb.Context()); err != nil {
		tb.Error(err)
	}
}

// TestHostileTree: nothing of what commands write is run, in the tree or, where they may do that, in the repository.
func TestHostileTree(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t *testing.T, r *worktree.Repository, tree *worktree.Tree, ran string)
	}{
		{"attributes", func(t *testing.T, r *worktree.Repository, tree *worktree.Tree, ran string) {
			arm(t, r.Dir(), ran)
			write(t, "* filter=evil diff=evil merge=evil working-tree-encoding=UTF-16 ident\n[attr]binary filter=evil\n*.bin filter=lfs\n", tree.Dir(), ".gitattributes")
			write(t, "x", tree.Dir(), "a.bin")
		}},
		{"the .git is a repository", func(t *testing.T, _ *worktree.Repository, tree *worktree.Tree, ran string) {
			removeAll(t, tree.Dir(), ".git")
			evil(t, tree.Dir(), ran)
		}},
		{"the .git leads to a repository", func(t *testing.T, _ *worktree.Repository, tree *worktree.Tree, ran string) {
			other := t.TempDir()
			evil(t, other, ran)
			write(t, "gitdir: "+other+"/.git\n", tree.Dir(), ".git")
		}},
		{"the .git is a link", func(t *testing.T, _ *worktree.Repository, tree *worktree.Tree, ran string) {
			other := t.TempDir()
			evil(t, other, ran)
			removeAll(t, tree.Dir(), ".git")
			symlink(t, filepath.Join(other, ".git"), tree.Dir(), ".git")
		}},
		{"nested repositories", func(t *testing.T, _ *worktree.Repository, tree *worktree.Tree, ran string) {
			evil(t, filepath.Join(tree.Dir(), "nested"), ran)
			evil(t, filepath.Join(tree.Dir(), "nested/deeper"), ran)
		}},
		{"a nested repository that is known to git", func(t *testing.T, _ *worktree.Repository, tree *worktree.Tree, ran string) {
			evil(t, filepath.Join(tree.Dir(), "nested"), ran)
			git(t, tree.Dir(), "add", "-A")
			git(t, tree.Dir(), "commit", "--quiet", "-m", "a link")
		}},
		{"a submodule", func(t *testing.T, _ *worktree.Repository, tree *worktree.Tree, ran string) {
			evil(t, filepath.Join(tree.Dir(), "sub"), ran)
			write(t, "[submodule \"sub\"]\n\tpath = sub\n\turl = https://example.org/sub\n", tree.Dir(), ".gitmodules")
			write(t, "[core]\n\tfsmonitor = sh -c 'echo included >>"+ran+"'\n", tree.Dir(), "included")
			git(t, tree.Dir(), "add", "-A")
			git(t, tree.Dir(), "commit", "--quiet", "-m", "a submodule")
			write(t, "changed again\n", tree.Dir(), "sub/inside")
		}},
		{"the settings of the repository", func(t *testing.T, r *worktree.Repository, tree *worktree.Tree, ran string) {
			arm(t, r.Dir(), ran)
			write(t, "x", tree.Dir(), "a")
		}},
		{"the settings of the tree", func(t *testing.T, r *worktree.Repository, tree *worktree.Tree, ran string) {
			git(t, tree.Dir(), "config", "extensions.worktreeConfig", "true")
			for _, setting := range dangerous(ran) {
				git(t, tree.Dir(), "config", "--worktree", setting[0], setting[1])
			}
			other := t.TempDir()
			evil(t, other, ran)
			admins, _ := filepath.Glob(filepath.Join(r.Dir(), "worktrees/*"))
			for _, admin := range admins {
				write(t, other+"/.git\n", admin, "commondir")
				hooks(t, filepath.Join(admin, "hooks"), ran)
			}
			write(t, "* filter=evil\n", tree.Dir(), ".gitattributes")
			write(t, "x", tree.Dir(), "a")
		}},
		{"links", func(t *testing.T, _ *worktree.Repository, tree *worktree.Tree, ran string) {
			outside := t.TempDir()
			write(t, "secret", outside, "f")
			symlink(t, outside, tree.Dir(), "d")
			symlink(t, "/dev/zero", tree.Dir(), "zero")
			symlink(t, ".", tree.Dir(), "loop")
			symlink(t, filepath.Join(outside, "f"), tree.Dir(), ".gitignore")
			symlink(t, filepath.Join(outside, "f"), tree.Dir(), ".gitattributes")
		}},
		{"names", func(t *testing.T, _ *worktree.Repository, tree *worktree.Tree, ran string) {
			for _, name := range []string{"--help", "-", "a\nb", "a\tb", ":(top)x", "*", `a\b`, "a\"b", "\xff\xfe", "$(touch x)", "; touch x", "HEAD", "refs/heads/main", strings.Repeat("n", 255)} {
				write(t, "x", tree.Dir(), name)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, tree := begun(t, "c")
			write(t, "1\n", tree.Dir(), "f")
			write(t, "1\n", tree.Dir(), "d/f")
			commit(t, tree)
			removeAll(t, tree.Dir(), "d")
			ran := trap(t)
			c.make(t, r, tree, ran)
			removeAll(t, ran) // by the git that has made it so
			all(t, r, tree)
			if _, err := os.Stat(ran); err == nil {
				t.Errorf("it ran: %s", read(t, ran))
			}
		})
	}
}

// TestTrap shows that what is laid out does run where git is used as one does.
func TestTrap(t *testing.T) {
	dir, ran := t.TempDir(), trap(t)
	evil(t, dir, ran)
	removeAll(t, ran)
	_, _ = tryGit(dir, "status")
	_, _ = tryGit(dir, "add", "-A")
	_, _ = tryGit(dir, "diff", "HEAD")
	for _, name := range []string{"fsmonitor", "clean"} {
		if !strings.Contains(read(t, ran), name) {
			t.Errorf("no %s ran: %s", name, read(t, ran))
		}
	}
}

// TestLinkedFolder: a file below a folder that has become a link is gone, and what the link leads to is not read.
func TestLinkedFolder(t *testing.T) {
	r, tree := begun(t, "c")
	write(t, "1\n", tree.Dir(), "d/f")
	commit(t, tree)
	outside := t.TempDir()
	write(t, "secret", outside, "f")
	removeAll(t, tree.Dir(), "d")
	symlink(t, outside, tree.Dir(), "d")
	head := commit(t, tree).Head
	if have := files(t, r, head); have != "120000 d" {
		t.Errorf("the files: %s", have)
	}
	if err := tree.Reset(t.Context(), git(t, r.Dir(), "rev-parse", head+"^"), false); err != nil {
		t.Fatal(err)
	}
	if read(t, outside, "f") != "secret" || read(t, tree.Dir(), "d/f") != "1\n" {
		t.Error("it was written through the link")
	}
}

func symlink(tb testing.TB, target string, path ...string) {
	tb.Helper()
	name := filepath.Join(path...)
	_ = os.Remove(name)
	if err := os.Symlink(target, name); err != nil {
		tb.Fatal(err)
	}
}
