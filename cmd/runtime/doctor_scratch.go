package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// A scratch is where the codex of a check works, so that nothing of it is left in its
// home: codex writes there at each start, of databases alone several. The login and the
// configuration in it are those of the home itself. The zero scratch is the home, for a
// runtime whose codex works there all the time.
//
// It has a temp directory of its own. codex makes no sandbox for a home under the temp
// directory, and whether the real one is has a check of its own.
type scratch struct{ dir string }

func newScratch(home string) (_ scratch, err error) {
	dir, err := os.MkdirTemp("", "runtime-doctor-")
	if err != nil {
		return scratch{}, err
	}
	at := scratch{dir}
	defer func() {
		if err != nil {
			at.remove()
		}
	}()
	if err := errors.Join(os.Mkdir(at.home(), 0o700), os.Mkdir(at.temp(), 0o700)); err != nil {
		return scratch{}, err
	}
	for _, name := range []string{"auth.json", "config.toml"} {
		if _, err := os.Lstat(filepath.Join(home, name)); err != nil {
			continue // there is none, or what is wrong with it is said by others
		}
		if err := os.Symlink(filepath.Join(home, name), filepath.Join(at.home(), name)); err != nil {
			return scratch{}, err
		}
	}
	return at, nil
}

func (s scratch) home() string { return filepath.Join(s.dir, "home") }
func (s scratch) temp() string { return filepath.Join(s.dir, "tmp") }

// env is the environment of a codex that works here.
func (s scratch) env(environ []string) []string {
	if s.dir == "" {
		return environ
	}
	out := make([]string, 0, len(environ)+2)
	for _, kv := range environ {
		if !strings.HasPrefix(kv, "CODEX_HOME=") && !strings.HasPrefix(kv, "TMPDIR=") {
			out = append(out, kv)
		}
	}
	return append(out, "CODEX_HOME="+s.home(), "TMPDIR="+s.temp())
}

// remove removes all of it. A process that codex has left may write once more meanwhile.
func (s scratch) remove() {
	if os.RemoveAll(s.dir) != nil {
		_ = os.RemoveAll(s.dir) // what is left then is in the temp directory
	}
}
