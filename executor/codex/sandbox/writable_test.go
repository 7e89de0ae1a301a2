package sandbox

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// lets returns the guard of a codex whose commands write a directory, and beside it another one. One is
// linked to the other, each way.
func lets(t *testing.T) (e *Guard, work, beside string) {
	t.Helper()
	dir := codextest.Dir(t, "writable")
	work, beside = filepath.Join(dir, "work"), filepath.Join(dir, "beside")
	for _, made := range []string{work, beside, filepath.Join(work, "a"), filepath.Join(beside, "a")} {
		if err := os.MkdirAll(made, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{filepath.Join(work, "out"): beside, filepath.Join(beside, "in"): work} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	e = New(Terms{Cwd: work})
	e.learnWritable(Places{Env: []string{"TMPDIR=/x", "TMPDIR=" + filepath.Join(dir, "temp"), "B=c"}, Written: []string{"/srv/shared"}}, appserver.ThreadSession{})
	return e, work, beside
}

// TestUnfitPaths: what commands could lead elsewhere, or have others led by, is not opened.
func TestUnfitPaths(t *testing.T) {
	t.Parallel()
	e, work, beside := lets(t)
	for path, why := range map[string]string{
		work:                                  "lies in " + work,
		work + "/a":                           "lies in " + work,
		work + "/a/../.git":                   "lies in " + work,
		work + "/none/yet":                    "lies in " + work,
		work + "/out/a":                       "lies in " + work, // and leads elsewhere
		beside + "/in":                        "lies in " + work,
		beside + "/in/a":                      "lies in " + work,
		filepath.Dir(work) + "/temp/a":        "temp, where commands",
		"/srv/shared/a":                       "lies in /srv/shared",
		"/proc/self/cwd/a":                    "lies in /proc",
		filepath.Dir(work):                    "holds " + work,
		"/":                                   "holds " + work,
		"/srv":                                "holds /srv/shared",
		"a":                                   "no absolute path",
		"":                                    "no absolute path",
		beside:                                "",
		beside + "/a":                         "",
		beside + "/none/yet":                  "",
		filepath.Dir(work) + "/work-and-more": "",
	} {
		if got := e.Unfit([]string{path})[path]; (got == "") != (why == "") || !strings.Contains(got, why) {
			t.Errorf("%s: %q, want %q", path, got, why)
		}
	}
}

// TestOpenedPathsAreWritable, too, for all that is asked after them, and in one question.
func TestOpenedPathsAreWritable(t *testing.T) {
	t.Parallel()
	e, _, beside := lets(t)
	below := beside + "/a/b"
	if why := e.Unfit([]string{below, beside + "/a"}); !strings.Contains(why[below], "asked for too") || len(why) != 1 {
		t.Errorf("one below the other: %v", why)
	}
	if note := e.OpenUp([]string{beside + "/a"}); note != "" {
		t.Fatal(note)
	}
	for path, why := range map[string]string{below: "since that was allowed", beside: "holds " + beside + "/a", beside + "/a": "", beside + "/c": ""} {
		if got := e.Unfit([]string{path})[path]; (got == "") != (why == "") || !strings.Contains(got, why) {
			t.Errorf("%s: %q, want %q", path, got, why)
		}
	}
	if note := e.OpenUp([]string{beside + "/c", below}); !strings.Contains(note, below) || e.Unfit([]string{beside + "/c/d"})[beside+"/c/d"] != "" {
		t.Errorf("a yes to what became unfit: %q", note)
	}
	e.writable.forget()
	if note := e.OpenUp([]string{below}); note != "" {
		t.Errorf("after the end of codex: %s", note)
	}
}

// TestReadOnlyOpensTheWorkingDirectory: where no message's commands write it, none can replace
// what lies in it.
func TestReadOnlyOpensTheWorkingDirectory(t *testing.T) {
	t.Parallel()
	e := New(Terms{Cwd: "/w", Mode: appserver.ReadOnly})
	e.learnWritable(Places{Env: []string{"TMPDIR=/t"}, Written: []string{"/r"}}, appserver.ThreadSession{})
	if why := e.Unfit([]string{"/w/a", "/r/a", "/t/a"}); len(why) != 1 || why["/t/a"] == "" {
		t.Error(why)
	}
	e.learnWritable(Places{Env: []string{"TMPDIR=/codexs"}, Temp: []string{"/commands"}}, appserver.ThreadSession{})
	if why := e.Unfit([]string{"/codexs/a", "/commands/a"}); len(why) != 1 || why["/commands/a"] == "" {
		t.Error(why)
	}
	e.learnWritable(Places{}, appserver.ThreadSession{Sandbox: appserver.PolicyOf(appserver.WorkspaceWrite, nil)})
	if why := e.Unfit([]string{"/tmp/a"}); len(why) != 0 {
		t.Error(why)
	}
	e.learnWritable(Places{}, appserver.ThreadSession{Sandbox: json.RawMessage(`{"type":"workspaceWrite","writableRoots":["/w/a"]}`)})
	if why := e.Unfit([]string{"/tmp/a", "/w/a/b", "/w/b"}); len(why) != 2 || why["/w/b"] != "" {
		t.Error(why)
	}
}

// TestOpensAreBounded: each is held against each.
func TestOpensAreBounded(t *testing.T) {
	t.Parallel()
	e := New(Terms{})
	if why := e.Unfit(make([]string, mostOpened)); !strings.Contains(why[""], "more than 256 paths") {
		t.Error(why)
	}
	e.writable.granted = make([]string, mostOpened)
	if note := e.OpenUp([]string{"/x"}); !strings.Contains(note, "more than 256 paths") {
		t.Error(note)
	}
}
