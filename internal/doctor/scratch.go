package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/remove"
)

// A scratch is where the codex of a check works, so that nothing of it is left in its
// home: codex writes there at each start, of databases alone several. The login and the
// configuration in it, and the files that this names, are those of the home itself. The
// zero scratch is the home, for a runtime whose codex works there all the time: of such a
// one there is at most the temp directory.
//
// It has a temp directory of its own. codex makes no sandbox for a home under the temp
// directory, and whether the real one is has a check of its own.
type scratch struct {
	dir  string
	user *asuser.User // whose it is; nil is ours
	tmp  string       // the temp directory, where it is not in dir
	turn *sync.Mutex  // held while a codex runs here: of two that start in a new home at once one may fail to make its databases
}

func newScratch(home string, user *asuser.User) (scratch, error) {
	return asuser.Value(user, func() (scratch, error) { return makeScratch(home, user) })
}

// bareScratch has nothing of a home: neither a login nor a configuration.
func bareScratch(user *asuser.User) (scratch, error) {
	return asuser.Value(user, func() (scratch, error) { return emptyScratch(user) })
}

func emptyScratch(user *asuser.User) (scratch, error) {
	dir, err := os.MkdirTemp("", "runtime-doctor-")
	if err != nil {
		return scratch{}, err
	}
	at := scratch{dir: dir, user: user, tmp: filepath.Join(dir, "tmp"), turn: &sync.Mutex{}}
	if err := errors.Join(os.Mkdir(at.home(), 0o700), os.Mkdir(at.tmp, 0o700)); err != nil {
		at.remove()
		return scratch{}, err
	}
	return at, nil
}

func makeScratch(home string, user *asuser.User) (scratch, error) {
	at, err := emptyScratch(user)
	if err != nil {
		return scratch{}, err
	}
	for _, name := range append([]string{"auth.json", configName, ".env"}, namedIn(home)...) {
		if err := at.link(home, name); err != nil {
			at.remove()
			return scratch{}, err
		}
	}
	return at, nil
}

// link has a file of the home stand in this one, if there is such a file.
func (s scratch) link(home, name string) error {
	original, here := filepath.Join(home, name), filepath.Join(s.home(), name)
	if _, err := os.Lstat(original); err != nil {
		return nil //nolint:nilerr // there is none, or what is wrong with it is said by others
	}
	if _, err := os.Lstat(here); err == nil {
		return nil // it is named twice
	}
	if err := os.MkdirAll(filepath.Dir(here), 0o700); err != nil {
		return err
	}
	return os.Symlink(original, here)
}

const (
	configName = "config.toml"
	mostConfig = 1 << 20
)

// quoted is a text of TOML that may be the path of a file.
var quoted = regexp.MustCompile(`"([^"\\\n]+)"|'([^'\n]+)'`)

// namedIn are the files of a home that its configuration names by a path from there, such
// as instructions: codex does not start without them.
func namedIn(home string) (all []string) {
	text, err := regular.Read(filepath.Join(home, configName), mostConfig)
	if err != nil {
		return nil // others say why
	}
	for _, m := range quoted.FindAllStringSubmatch(string(text), -1) {
		name := filepath.Clean(m[1] + m[2]) // one of them is empty
		if info, err := os.Stat(filepath.Join(home, name)); err == nil && info.Mode().IsRegular() && filepath.IsLocal(name) {
			all = append(all, name)
		}
	}
	return all
}

// alone has a codex run here while no other does.
func (s scratch) alone(run func() error) error {
	if s.turn != nil {
		s.turn.Lock()
		defer s.turn.Unlock()
	}
	return run()
}

func (s scratch) home() string { return filepath.Join(s.dir, "home") }

// or is the folder that a codex is started in which works here: one that there is, where
// codex's own home may have to be made.
func (s scratch) or(dir string) string {
	if s.dir == "" {
		return dir
	}
	return s.home()
}

// databases is the variable that has codex keep its databases outside of its home.
const databases = "CODEX_SQLITE_HOME"

// env is the environment of a codex that works here.
func (s scratch) env(environ []string) []string {
	out := slices.Clone(environ)
	set := func(name, value string) {
		out = append(slices.DeleteFunc(out, func(kv string) bool { return strings.HasPrefix(kv, name+"=") }), name+"="+value)
	}
	if s.dir != "" {
		set("CODEX_HOME", s.home())
		if slices.ContainsFunc(environ, func(kv string) bool { return strings.HasPrefix(kv, databases+"=") }) {
			set(databases, s.home())
		}
	}
	if s.tmp != "" {
		set("TMPDIR", s.tmp)
	}
	return out
}

// remove removes all of it. A process that codex has left may write once more meanwhile.
func (s scratch) remove() {
	_ = s.user.Do(func() error {
		if remove.All(s.dir) == nil {
			return nil
		}
		return remove.All(s.dir) // what is left then is in the temp directory
	})
}
