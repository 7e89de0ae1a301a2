package files_test

import (
	"fmt"
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
	var all strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&all, "%s/missing-%d ", work, i)
	}
	if got := f.Named(files.Reply{Text: all.String() + there}); len(got) != 0 {
		t.Errorf("a thousand paths were looked for: %v", got)
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
