package within

import (
	"errors"
	"fmt"
	"io/fs"
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

// TestWayLeadsThroughDir: what can be written in a directory decides where a path leads
// that goes through it, wherever it ends.
func TestWayLeadsThroughDir(t *testing.T) {
	base := Real(t.TempDir())
	dir := filepath.Join(base, "dir")
	for _, made := range []string{"dir/sub", "out/bin", "var/home/u"} {
		if err := os.MkdirAll(filepath.Join(base, made), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"dir/.venv":    "../out",
		"dir/absolute": filepath.Join(base, "out"),
		"dir/nowhere":  "../none",
		"through":      "dir/.venv/bin",
		"twice":        "through",
		"up":           "dir/sub/../../out",
		"home":         "var/home", // as systems have them
		"beside":       "out",
		"circle":       "circle",
		"dir-by-link":  "dir",
	} {
		if err := os.Symlink(target, filepath.Join(base, link)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]bool{
		"dir/.venv":              true,
		"dir/.venv/bin":          true,
		"dir/absolute/bin":       true,
		"dir/nowhere/bin":        true,
		"dir/.venv/../out":       true,
		"through":                true,
		"twice/git":              true,
		"up/bin":                 true,
		"dir-by-link/.venv/bin":  true,
		"dir-by-link":            true,
		"out/../dir":             true,
		"home/u":                 false,
		"beside/bin":             false,
		"circle/bin":             true,  // it cannot be followed
		"dir/../out":             false, // dir itself is no command's to replace
		"dir-by-link/../out/bin": false,
		"none/../out":            false,
		"":                       false,
	} {
		if got := Dir(dir, base+"/"+path); got != want {
			t.Errorf("Dir(dir, %q) = %t", path, got)
		}
	}
	if got, inside := Resolve(base+"/out", dir+"/").Holding(base + "/twice"); !inside || got != base+"/out" {
		t.Errorf("the first of two: %q, %t", got, inside)
	}
	t.Chdir(base)
	if !Dir(dir, "dir/.venv") || Dir(dir, "out") {
		t.Error("a relative path is not taken from here")
	}
}

// TestLeading: a directory decides where what lies in it leads, and not where it is itself.
func TestLeading(t *testing.T) {
	base := Real(t.TempDir())
	link := filepath.Join(base, "dir", "link")
	if err := errors.Join(os.Mkdir(filepath.Dir(link), 0o700), os.Symlink(base, link)); err != nil {
		t.Fatal(err)
	}
	dirs := Resolve(base+"/none", base+"/dir")
	for path, want := range map[string]bool{base + "/dir": false, base: false, base + "/dir/a": true, link + "/other": true, link + "/dir": true, base + "/dirs": false} {
		if dir, leads := dirs.Leading(path); leads != want || leads && dir != base+"/dir" {
			t.Errorf("%s: %s, %t", path, dir, leads)
		}
	}
}

// TestFollow: a path that others have made to lead on and on is followed so far and no
// further. It could lead anywhere then, and as a directory hold anything.
func TestFollow(t *testing.T) {
	base := Real(t.TempDir())
	deep := base + strings.Repeat("/d", 100)
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	chain := func(dir string, links int) string {
		for i := range links {
			if err := os.Symlink(fmt.Sprintf("%s/%d-%d", dir, links, i+1), fmt.Sprintf("%s/%d-%d", dir, links, i)); err != nil {
				t.Fatal(err)
			}
		}
		end := fmt.Sprintf("%s/%d-%d", dir, links, links)
		if err := os.WriteFile(end, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%s/%d-0", dir, links)
	}
	for path, want := range map[string]error{
		chain(base, 40): nil, chain(base, 41): ErrTooFar, chain(deep, 3): nil, chain(deep, 10): ErrTooFar, base + "/none": fs.ErrNotExist,
	} {
		got, err := Follow(path)
		if !errors.Is(err, want) {
			t.Errorf("%s: %q, %v, want %v", path, got, err, want)
		}
		if want == nil {
			if as, err := filepath.EvalSymlinks(path); got != as || err != nil {
				t.Errorf("%s leads to %s, want %s, %v", path, got, as, err)
			}
		}
		if tooFar := errors.Is(want, ErrTooFar); (Real(path) == "") != tooFar || Dir(base+"/other", path) != tooFar {
			t.Errorf("%s: %q, beside it %t", path, Real(path), Dir(base+"/other", path))
		}
		if tooFar := errors.Is(want, ErrTooFar); Dir(path, base+"/other") != tooFar {
			t.Errorf("%s as a directory holds what lies beside it: %t", path, !tooFar)
		}
	}
}

// TestFollowNamed: a path that a message names leads over fewer folders, those of its links
// among them.
func TestFollowNamed(t *testing.T) {
	base := Real(t.TempDir())
	down := strings.Repeat("/d", mostNamed-strings.Count(base, "/")-1)
	deep := base + down
	if err := errors.Join(os.MkdirAll(deep+"/e/f", 0o700), os.Symlink(down[1:], base+"/link")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{deep + "/e": nil, deep + "/e/f": ErrTooFar, base + "/link": nil, base + "/link/e": ErrTooFar, base + "/none": fs.ErrNotExist} {
		if _, err := FollowNamed(path); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
		if _, err := Follow(path); err != nil && errors.Is(want, ErrTooFar) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
