package sandbox

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// Apart says why a thread is refused: one in whose sandbox commands could write one of Terms.Apart, or of
// what its codex loads programs from: the user's configuration may add directories to the
// sandbox, which only codex's answer tells. Turns that ask for another sandbox say all of
// it, without what is added: theirs is for [Guard.ApartFor].
func (g *Guard) Apart(in Places, asked appserver.ThreadStartParams, session appserver.ThreadSession) (why string, err error) {
	var sandbox struct {
		WritableRoots []string `json:"writableRoots"`
	}
	if len(session.Sandbox) == 0 || asked.Sandbox != g.terms.Mode {
		return "", nil
	}
	if err := json.Unmarshal(session.Sandbox, &sandbox); err != nil {
		return "", fmt.Errorf("the sandbox of a thread: %w", err)
	}
	roots := within.Resolve(sandbox.WritableRoots...)
	for _, place := range slices.Concat(g.terms.Apart, in.Loaded) {
		if root, inside := roots.Holding(place.Path); inside {
			return fmt.Sprintf("codex's configuration lets commands write %s (sandbox_workspace_write.writable_roots), where %s of %s lies, which they must not write: take the first out of config.toml, or have %[3]s lead elsewhere", root, place.Path, place.Name), nil
		}
	}
	if root, leads := roots.Leading(filepath.Dir(g.terms.Cwd)); leads { // and with the folder in between what codex goes by
		return fmt.Sprintf("codex's configuration lets commands write %s (sandbox_workspace_write.writable_roots), where they could put another folder in the place of %s, which has the working directory: name that folder in config.toml, or none above the working directory", root, filepath.Dir(g.terms.Cwd)), nil
	}
	return inOrder(append(sandbox.WritableRoots, g.terms.Cwd)), nil
}

// inOrder says why directories are refused that commands write: where one holds another, and one is named by
// way of a link. codex mounts them in the order of their names (seen on 0.169.0), and so the first over the
// .codex and .git of the second, which it keeps from commands.
func inOrder(dirs []string) (why string) {
	for _, outer := range dirs {
		for _, inner := range dirs {
			a, b := within.Real(outer), within.Real(inner)
			_, holds := within.Resolve(a).Holding(b)
			if outer != inner && holds && (outer != a || inner != b) {
				return fmt.Sprintf("commands may write %s (sandbox_workspace_write.writable_roots, or RUNTIME_WORKDIR), where %s lies, and codex's sandbox would not keep its .codex and .git from them, since one is named by way of a link: name them %s and %s", outer, inner, a, b)
			}
		}
	}
	return ""
}

// ApartFor is [Guard.Apart] for a job that asks for a sandbox in which its commands write
// the working directory, where the threads have none.
func (g *Guard) ApartFor(o agent.Options, in Places) (why string) {
	if o.Sandbox != agent.WorkspaceWrite || agent.Sandbox(g.terms.Mode) == o.Sandbox {
		return ""
	}
	root := within.Resolve(g.terms.Cwd)
	for _, place := range slices.Concat(g.terms.Apart, in.Loaded) {
		// A relative path leads to wherever codex starts a program.
		if _, inside := root.Holding(place.Path); inside || !filepath.IsAbs(place.Path) {
			return fmt.Sprintf("sandbox %q is not to be had here: in it commands would write the working directory %s, where %q of %s lies, which they must not write; nothing was done", o.Sandbox, g.terms.Cwd, place.Path, place.Name)
		}
	}
	return ""
}
