package executor

import (
	"encoding/json"
	"fmt"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// apart refuses a thread in whose sandbox commands could write one of Config.Apart: the
// user's configuration may add directories to it, which only codex's answer tells.
func (e *Executor) apart(session appserver.ThreadSession) error {
	var sandbox struct {
		WritableRoots []string `json:"writableRoots"`
	}
	if len(session.Sandbox) == 0 || len(e.cfg.Apart) == 0 {
		return nil
	}
	if err := json.Unmarshal(session.Sandbox, &sandbox); err != nil {
		return fmt.Errorf("the sandbox of a thread: %w", err)
	}
	for _, root := range sandbox.WritableRoots {
		for _, path := range e.cfg.Apart {
			if within.Dir(root, path) {
				return Unready(fmt.Sprintf("codex's configuration lets commands write %s (sandbox_workspace_write.writable_roots), where %s lies, which they must not write: take it out of config.toml", root, path))
			}
		}
	}
	return nil
}
