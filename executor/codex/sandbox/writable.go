package sandbox

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// writable is what commands of any conversation can write in their sandboxes. codex looks a path
// that was opened up again with each command, so one of which commands can replace a part would
// be leave to write anywhere.
type writable struct {
	mu      sync.Mutex
	roots   []string // of the threads of this codex
	granted []string // opened by a "yes": a command that was left running keeps it until codex ends
}

// mostOpened is how many paths may be opened while one codex lives, and how many a question may
// open: each is held against each.
const mostOpened = 256

// learnWritable notes what the commands of a thread can write, and those of others: a turn that
// asks for less may be the first.
func (g *Guard) learnWritable(in Places, session appserver.ThreadSession) {
	// What leads to the files of a process is that process's to change.
	roots := append([]string{"/proc"}, in.Temp...)
	if len(in.Temp) == 0 {
		roots = append(roots, temp(in.Env))
	}
	if g.terms.Mode != appserver.ReadOnly { // no message can have more than that
		roots = slices.Concat([]string{g.terms.Cwd}, roots, in.Written)
	}
	var sandbox struct {
		Type          string   `json:"type"`
		WritableRoots []string `json:"writableRoots"`
		NoSlashTmp    bool     `json:"excludeSlashTmp"`
	}
	_ = json.Unmarshal(session.Sandbox, &sandbox) // [Guard.Apart] says so where it cannot be read
	if sandbox.Type == "workspaceWrite" && !sandbox.NoSlashTmp {
		roots = append(roots, "/tmp")
	}
	g.writable.learn(append(roots, sandbox.WritableRoots...))
}

// temp is the temp directory of programs with an environment; empty where it names none.
func temp(env []string) string {
	for _, kv := range slices.Backward(env) {
		if dir, ok := strings.CutPrefix(kv, "TMPDIR="); ok {
			return dir
		}
	}
	return ""
}

func (w *writable) learn(roots []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, root := range roots {
		if filepath.IsAbs(root) && !slices.Contains(w.roots, root) {
			w.roots = append(w.roots, root)
		}
	}
}

func (w *writable) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.roots, w.granted = nil, nil
}

// Unfit says of paths why they are not opened for writing.
func (g *Guard) Unfit(paths []string) map[string]string {
	g.writable.mu.Lock()
	defer g.writable.mu.Unlock()
	return g.unfitLocked(paths)
}

// OpenUp notes that commands can write the paths from now on. Where one is not fit for that any
// more it says so, and none is opened.
func (g *Guard) OpenUp(paths []string) (note string) {
	g.writable.mu.Lock()
	defer g.writable.mu.Unlock()
	why := g.unfitLocked(paths)
	for _, path := range paths {
		if why[path] != "" {
			return "The answer was yes, but " + brief.Named(path) + " " + why[path] + ". It was declined."
		}
	}
	for _, path := range paths {
		if !slices.Contains(g.writable.granted, path) {
			g.writable.granted = append(g.writable.granted, path)
		}
	}
	return ""
}

// unfitLocked is Unfit for a caller that holds writable.mu.
func (g *Guard) unfitLocked(paths []string) (why map[string]string) {
	err := g.terms.User.Do(func() error {
		why = g.writable.unfit(paths)
		return nil
	})
	if err != nil {
		why = all(paths, "could not be looked at: "+err.Error())
	}
	return why
}

func all(paths []string, why string) map[string]string {
	out := map[string]string{}
	for _, path := range paths {
		out[path] = why
	}
	return out
}

func (w *writable) unfit(paths []string) map[string]string {
	if max(len(paths), len(w.granted)) >= mostOpened {
		return all(paths, fmt.Sprintf("is one of more than %d paths: allow a folder that holds them, once codex was restarted", mostOpened))
	}
	why, fit := map[string]string{}, []string{}
	roots, granted := within.Resolve(w.roots...), within.Resolve(w.granted...)
	for _, path := range paths {
		if reason := w.against(path, roots, granted); reason != "" {
			why[path] = reason
		} else {
			fit = append(fit, path)
		}
	}
	asked := within.Resolve(fit...)
	for _, path := range fit {
		if dir, leads := asked.Leading(filepath.Clean(path)); leads {
			why[path] = fmt.Sprintf("lies in %s, which is asked for too", brief.Named(dir))
		}
	}
	return why
}

// against says why a path is not to be opened; empty if it may be.
func (w *writable) against(path string, roots, granted within.Dirs) string {
	if !filepath.IsAbs(path) {
		return "is no absolute path"
	}
	path = filepath.Clean(path) // as codex takes it
	if dir, inside := roots.Holding(path); inside {
		return fmt.Sprintf("lies in %s, where commands can put something else in its place (what the sandbox lets them write there they write without being asked)", brief.Named(dir))
	}
	if dir, leads := granted.Leading(path); leads {
		return fmt.Sprintf("lies in %s, which commands may write since that was allowed, and so put something else in its place: let it ask for that folder", brief.Named(dir))
	}
	dir := within.Resolve(path)
	for _, other := range slices.Concat(w.roots, w.granted) {
		if _, leads := dir.Leading(other); leads {
			return fmt.Sprintf("holds %s, which commands write: they could put something else in the place of that", brief.Named(other))
		}
	}
	return ""
}
