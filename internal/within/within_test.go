package within

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDir(t *testing.T) {
	base := t.TempDir()
	dir, link := filepath.Join(base, "dir"), filepath.Join(base, "link")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		dir, path string
		want      bool
	}{
		"itself":          {dir, dir, true},
		"below":           {dir, dir + "/a/b", true},
		"below-by-link":   {dir, link + "/a", true},
		"dir-is-the-link": {link, dir + "/a", true},
		"beside":          {dir, base + "/other", false},
		"like-named":      {dir, dir + "ectory", false},
		"above":           {dir, base, false},
		"dotted":          {dir, base + "/..x", false},
		"not-there":       {base + "/none", base + "/none/a", true},
		"unclean":         {dir, dir + "/../dir/a", true},
		"root":            {"/", dir, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Dir(c.dir, c.path); got != c.want {
				t.Errorf("Dir(%q, %q) = %t", c.dir, c.path, got)
			}
		})
	}
}

func TestOutside(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	path := strings.Join([]string{"/usr/bin", dir + "/.venv/bin", "", ".", "bin", link + "/bin", dir + "x/bin", "/bin"}, ":")
	if got, want := Outside(dir, path), "/usr/bin:"+dir+"x/bin:/bin"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
