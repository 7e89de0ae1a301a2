package files_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
)

// TestRepliesThatListEverything end a turn as late as others do.
func TestRepliesThatListEverything(t *testing.T) {
	f, work := folder(t)
	there := put(t, filepath.Join(work, "real.txt"), "text")
	if got := f.Named(files.Reply{Text: strings.Repeat(work+"/missing ", 5_000) + there}); len(got) != 1 {
		t.Errorf("behind one that is repeated: %v", got)
	}
	if got := f.Named(files.Reply{Text: strings.Repeat("`a` ", 100_000) + "`real.txt`"}); len(got) != 0 {
		t.Errorf("a hundred thousand names were read: %v", got)
	}
	var all strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&all, "%s/missing-%d ", work, i)
	}
	if got := f.Named(files.Reply{Text: all.String() + there}); len(got) != 0 {
		t.Errorf("a thousand paths were looked for: %v", got)
	}
}

// TestClosedWork: a command that closes the working directory keeps no files out.
func TestClosedWork(t *testing.T) {
	f, work := folder(t)
	if err := os.Chmod(work, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Add("a.txt", "", strings.NewReader("x"), 9); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(work); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory is %v, %v", info.Mode(), err)
	}
}

// TestNamesThatLookLikeOthers keep nothing that is not seen.
func TestNamesThatLookLikeOthers(t *testing.T) {
	f, _ := folder(t)
	file, err := f.Add("report\u202efdp.exe\u200b\n", "", strings.NewReader("x"), 9)
	if err != nil || file.Name != "reportfdp.exe" {
		t.Errorf("%q, %v", file.Name, err)
	}
}
