package worktree_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/worktree"
)

func TestImport(t *testing.T) {
	src := operators(t)
	head := git(t, src, "rev-parse", "HEAD")
	git(t, src, "branch", "side")
	bare := filepath.Join(t.TempDir(), "bare.git")
	git(t, src, "clone", "--quiet", "--bare", src, bare)
	linked := filepath.Join(t.TempDir(), "linked")
	git(t, src, "worktree", "add", "--quiet", linked, "side")
	r := open(t)
	for _, c := range []struct{ name, from, ref string }{
		{"a working copy", src, ""}, {"by HEAD", src, "HEAD"}, {"a branch", src, "side"}, {"bare", bare, "main"},
		{"a linked tree", linked, ""}, {"a URL of a file", "file://" + src, ""},
	} {
		got, err := r.Import(t.Context(), c.from, c.ref, "in")
		if err != nil || got.Head != head || headOf(t, r, "in") != head || len(got.Notes()) > 0 {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
		if err := r.Drop(t.Context(), "in"); err != nil {
			t.Fatal(err)
		}
	}
	sound(t, r)
}

func TestImportOfWhatIsNone(t *testing.T) {
	src, empty, file := operators(t), t.TempDir(), write(t, "x", t.TempDir(), "file")
	git(t, empty, "init", "--quiet")
	r := open(t)
	for _, c := range []struct {
		name, from, ref string
		want            error
		says            string
	}{
		{"a folder", t.TempDir(), "", worktree.ErrNoRepository, ""},
		{"below a repository", filepath.Join(src, "cmd"), "", worktree.ErrNoRepository, ""},
		{"a file", file, "", worktree.ErrNoRepository, ""},
		{"nothing", filepath.Join(file, "x"), "", worktree.ErrNoRepository, ""},
		{"no commit", empty, "", worktree.ErrNoCommit, ""},
		{"no such branch", src, "none", worktree.ErrNoBranch, "none"},
		{"an option", "--upload-pack=touch " + file, "", nil, "no path"},
		{"an option for a branch", src, "--upload-pack=x", nil, "cannot be named"},
		{"a program", "ext::sh -c touch% " + file, "", nil, "no path"},
		{"a program as a URL", "ext://x", "", nil, "no protocol"},
		{"relative", "project", "", nil, "absolute"},
		{"a name that is kept from the log", "ftp://user:secret@host/x", "", nil, "ftp://host/x"},
	} {
		_, err := r.Import(t.Context(), c.from, c.ref, "in")
		if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", c.name, err)
		}
		if headOf(t, r, "in") != "" {
			t.Errorf("%s: there is a branch", c.name)
		}
	}
	sound(t, r)
}

// TestImportByURL, with the variables that are for such places alone.
func TestImportByURL(t *testing.T) {
	bare := filepath.Join(t.TempDir(), "bare.git")
	src := operators(t)
	git(t, src, "clone", "--quiet", "--bare", src, bare)
	git(t, bare, "update-server-info")
	asked := make(chan string, 100)
	files := http.FileServer(http.Dir(filepath.Dir(bare)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.UserAgent()
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	r, err := worktree.Open(t.Context(), worktree.Config{Dir: filepath.Join(t.TempDir(), "r"), Remote: []string{"GIT_HTTP_USER_AGENT=by a variable"}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Import(t.Context(), server.URL+"/bare.git", "main", "in")
	if err != nil || got.Head != git(t, src, "rev-parse", "HEAD") || headOf(t, r, "in") != got.Head {
		t.Errorf("%+v, %v", got, err)
	}
	if again, err := r.Import(t.Context(), server.URL+"/bare.git", "main", "again"); err != nil || again.Head != got.Head {
		t.Errorf("again: %+v, %v", again, err)
	}
	if agent := <-asked; agent != "by a variable" {
		t.Errorf("it was asked by %q", agent)
	}
	sound(t, r)
}

// TestImportOfWhatIsNotTaken: it is said.
func TestImportOfWhatIsNotTaken(t *testing.T) {
	t.Run("changes", func(t *testing.T) {
		src, r := operators(t), open(t)
		head := git(t, src, "rev-parse", "HEAD")
		write(t, "changed\n", src, "README")
		write(t, "new\n", src, "new")
		write(t, "staged\n", src, "staged")
		write(t, "ignored\n", src, "x.log")
		write(t, "local\n", src, "local")
		write(t, "local\n", src, ".git/info/exclude")
		git(t, src, "add", "staged")
		got, err := r.Import(t.Context(), src, "", "in")
		if err != nil || got.Head != head || strings.Join(got.Uncommitted, " ") != "staged README new" {
			t.Errorf("%+v, %v", got, err)
		}
		if notes := got.Notes(); len(notes) != 1 || !strings.Contains(notes[0], "README") {
			t.Errorf("the notes: %q", notes)
		}
	})
	t.Run("history", func(t *testing.T) {
		src, r := operators(t), open(t)
		write(t, "2\n", src, "two")
		git(t, src, "add", "-A")
		git(t, src, "commit", "--quiet", "-m", "second")
		shallow := filepath.Join(t.TempDir(), "shallow")
		git(t, src, "clone", "--quiet", "--depth=1", "file://"+src, shallow)
		got, err := r.Import(t.Context(), shallow, "", "in")
		if err != nil || !got.Shallow || len(got.Notes()) != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
		if n := git(t, r.Dir(), "rev-list", "--count", got.Head); n != "1" {
			t.Errorf("there are %s commits", n)
		}
		if have, want := files(t, r, got.Head), files(t, r, git(t, src, "rev-parse", "HEAD^{tree}")); have != want {
			t.Errorf("the files: %s", have)
		}
		again, err := open(t).Import(t.Context(), shallow, "", "in")
		if err != nil || again.Head != got.Head {
			t.Errorf("elsewhere it is %s, %v", again.Head, err)
		}
		sound(t, r)
	})
	t.Run("submodules and LFS", func(t *testing.T) {
		src, r := operators(t), open(t)
		git(t, src, "submodule", "--quiet", "add", operators(t), "sub")
		write(t, "*.bin filter=lfs diff=lfs merge=lfs -text\n", src, "deep/er/.gitattributes")
		git(t, src, "add", "-A")
		git(t, src, "commit", "--quiet", "-m", "second")
		got, err := r.Import(t.Context(), src, "", "in")
		if err != nil || strings.Join(got.Submodules, " ") != "sub" || !got.LFS || len(got.Notes()) != 2 || len(got.Uncommitted) > 0 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// TestImportAgain moves the branch, and keeps what it had.
func TestImportAgain(t *testing.T) {
	src, r := operators(t), open(t)
	first, err := r.Import(t.Context(), src, "", "in")
	if err != nil {
		t.Fatal(err)
	}
	git(t, src, "commit", "--quiet", "--amend", "-m", "otherwise")
	second, err := r.Import(t.Context(), src, "", "in")
	if err != nil || second.Head == first.Head || headOf(t, r, "in") != second.Head {
		t.Errorf("%+v, %v", second, err)
	}
	if kept := git(t, r.Dir(), "rev-parse", "refs/replaced/in/"+first.Head[:12]); kept != first.Head {
		t.Errorf("kept is %s", kept)
	}
}

// TestImportRunsNothing of what a repository's own settings name.
func TestImportRunsNothing(t *testing.T) {
	src, r := operators(t), open(t)
	ran := trap(t)
	for _, setting := range dangerous(ran) {
		git(t, src, "config", setting[0], setting[1])
	}
	hooks(t, filepath.Join(src, ".git/hooks"), ran)
	write(t, "* filter=evil diff=evil merge=evil\n", src, ".git/info/attributes")
	write(t, "changed\n", src, "README")
	got, err := r.Import(t.Context(), src, "", "in")
	if err != nil || len(got.Uncommitted) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Errorf("it ran: %s", read(t, ran))
	}
}
