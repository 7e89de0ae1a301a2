package codextest

import (
	"os"
	"path/filepath"
	"testing"
)

// TestOutsideOfTemp: a clone may lie under the temp directory, also by a symlink.
func TestOutsideOfTemp(t *testing.T) {
	base := t.TempDir()
	temp := filepath.Join(base, "temp")
	if err := os.MkdirAll(filepath.Join(temp, "clone"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(temp, "clone"), filepath.Join(base, "link")); err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(base, "cache", "none", "yet")
	for name, c := range map[string]struct {
		dirs []string
		want string
	}{
		"beside":    {[]string{filepath.Join(base, "clone"), cache}, filepath.Join(base, "clone")},
		"like-it":   {[]string{temp + "orary", cache}, temp + "orary"},
		"below":     {[]string{filepath.Join(temp, "clone", "new"), cache}, cache},
		"itself":    {[]string{temp, cache}, cache},
		"by-a-link": {[]string{filepath.Join(base, "link", "new"), cache}, cache},
		"all-below": {[]string{filepath.Join(temp, "a"), filepath.Join(temp, "b")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := outside(c.dirs, []string{filepath.Join(base, "other"), temp}); got != c.want {
				t.Errorf("outside = %q, want %q", got, c.want)
			}
		})
	}
}
