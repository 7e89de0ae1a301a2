package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
)

// TestReferences: what replies call files by, in the forms that codex teaches its models
// and in those of Markdown. WORK stands for the working directory.
func TestReferences(t *testing.T) {
	f, work := folder(t)
	for _, name := range []string{"report.md", "My Project/My Report.md", "report (1).md", "odd.md:3", "odd.md", "sub/report.md", "sub/deep/only.md"} {
		put(t, filepath.Join(work, name), name)
	}
	for text, want := range map[string]string{
		// Of the pinned codex's prompt.
		"[app](WORK/report.md:12)": "report.md", "[My Report.md](<WORK/My Project/My Report.md:3>)": "My Project/My Report.md",
		// Of the prompts before it.
		"`report.md`": "report.md", "`./report.md`": "report.md", "`sub/report.md:42`": "sub/report.md", "`sub/report.md#L10`": "sub/report.md",
		"`WORK/report.md:12:5`": "report.md", "`WORK/report.md#L3C7`": "report.md",
		// Of Markdown.
		"[r](report.md)": "report.md", "![r](./report.md \"the report\")": "report.md", "[r](<My Project/My Report.md>)": "My Project/My Report.md",
		"[r](My%20Project/My%20Report.md:3)": "My Project/My Report.md", "[r](report%20(1).md)": "report (1).md", "[r](WORK/report (1).md)": "report (1).md",
		"<WORK/My Project/My Report.md>": "My Project/My Report.md", "[r](WORK/report.md#L3-L9)": "report.md", "[r](WORK/report.md \"it\")": "report.md",
		"[`report.md`](WORK/report.md:1)": "report.md",
		// In prose.
		"see WORK/report.md:3.": "report.md", "see WORK/report.md:3-9, and more": "report.md", "`cat WORK/report.md`": "report.md", "</b>WORK/report.md<br/>": "report.md",
		// A name is taken as it is written if there is such a file.
		"[r](WORK/odd.md:3)": "odd.md:3", "[r](WORK/odd.md:4)": "odd.md",
		// Two, in their order, and each once.
		"`WORK/report.md` and `odd.md`, then [it](report.md:2) again": "report.md odd.md", "`odd.md`, WORK/report.md": "odd.md report.md",
		// No references.
		"see report.md and ./report.md": "", "`sub`": "", "[r](#report.md)": "", "[r](https://example.com/report.md)": "", "`none.md`": "", "[r]()": "", "<report.md>": "", "``": "",
		"`only.md`": "",
	} {
		if got := named(f, work, files.Reply{Text: strings.ReplaceAll(text, "WORK", work)}); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// named returns the names of the files that a reply names, from the working directory on.
func named(f *files.Folder, work string, reply files.Reply) string {
	var out []string
	for _, file := range f.Named(reply) {
		rel, err := filepath.Rel(work, file.Path)
		if err != nil {
			rel = err.Error()
		}
		out = append(out, rel)
	}
	return strings.Join(out, " ")
}

// TestRelativeReferences mean the folder of the turn before the working directory.
func TestRelativeReferences(t *testing.T) {
	f, work := folder(t)
	for _, name := range []string{"report.md", "top.md", "sub/report.md"} {
		put(t, filepath.Join(work, name), name)
	}
	for text, want := range map[string]string{"`report.md`": "sub/report.md", "[r](top.md)": "top.md", "[r](../top.md)": "top.md", "`sub/report.md`": "sub/report.md"} {
		if got := named(f, work, files.Reply{Text: text, Dir: filepath.Join(work, "sub")}); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestRelativeReferencesAreContained, as whole paths are.
func TestRelativeReferencesAreContained(t *testing.T) {
	f, work := folder(t, func(c *files.Config) { c.Hidden = []string{filepath.Join(c.Work, ".runtime")} })
	outside := put(t, filepath.Join(t.TempDir(), "outside.txt"), "x")
	for _, name := range []string{".auth_token", "secrets.d/KEY", ".runtime/files/x"} {
		put(t, filepath.Join(work, name), "secret")
	}
	for name, target := range map[string]string{"out": outside, "dir": filepath.Dir(outside), "token": ".auth_token"} {
		if err := os.Symlink(target, filepath.Join(work, name)); err != nil {
			t.Fatal(err)
		}
	}
	up, err := filepath.Rel(work, outside)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{up, "out", "dir/outside.txt", "token", ".auth_token", "./.auth_token:1", "secrets.d/KEY", ".runtime/files/x", "x/../secrets.d/KEY", outside + ":1"} {
		for _, text := range []string{"`" + path + "`", "[r](" + path + ")", "[r](<" + path + ">)"} {
			for _, dir := range []string{"", work, filepath.Dir(outside)} {
				if got := named(f, work, files.Reply{Text: text, Dir: dir}); got != "" {
					t.Errorf("%s in %q: %q", text, dir, got)
				}
			}
		}
	}
}

// TestNamesThatAreSpokenOf: a relative name in a code span, and a line of a file, hand out
// what has been written since the task was made; a link, and a whole path, anything.
func TestNamesThatAreSpokenOf(t *testing.T) {
	f, work := folder(t)
	begun := time.Now()
	old, edited := put(t, filepath.Join(work, "main.go"), "x"), put(t, filepath.Join(work, "edited.go"), "x")
	if err := os.Chtimes(old, time.Time{}, begun.Add(-time.Minute)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(edited, time.Time{}, begun); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(work, "sub/edited.go"), "x")
	if err := os.Chtimes(filepath.Join(work, "sub/edited.go"), time.Time{}, begun.Add(-time.Minute)); err != nil {
		t.Fatal(err)
	}
	if got := named(f, work, files.Reply{Text: "`edited.go`", Dir: filepath.Join(work, "sub"), Since: begun}); got != "" {
		t.Errorf("of the name in another folder: %q", got)
	}
	for text, want := range map[string]string{
		"`main.go` calls `edited.go:3`": "edited.go", "`main.go`, see [it](main.go)": "main.go", "`" + old + "`": "main.go",
		"see [it](main.go:7) and [edited](" + edited + ":12)": "edited.go", "[it](" + old + ":12)": "",
	} {
		if got := named(f, work, files.Reply{Text: text, Since: begun}); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
