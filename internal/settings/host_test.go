package settings

import (
	"os"
	"path/filepath"
	"testing"
)

// TestProgramAsCalled: a link that this program was started by is a way to it.
func TestProgramAsCalled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "runtime")
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	called := os.Args[0]
	t.Cleanup(func() { os.Args[0] = called })
	for name, want := range map[string]string{link: link, "no-such-program": self, "/bin/sh": self} {
		if os.Args[0] = name; (osHost{}).program() != want {
			t.Errorf("called as %s: %s, want %s", name, (osHost{}).program(), want)
		}
	}
}
