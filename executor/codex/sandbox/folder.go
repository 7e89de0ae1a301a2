package sandbox

import (
	"fmt"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// Stands says why the folder of a job, where commands start, is no more what it was when the job was
// accepted; it is empty where the folder stands. Jobs wait for their turn, and the commands of others can put a
// symlink in the folder's place. That is for a clear answer and not for safety: it can
// happen a moment later, which is why the folder is no root of the sandbox.
func Stands(cwd string) (why string) {
	if cwd == "" {
		return ""
	}
	if dir, err := within.Follow(cwd); err != nil || dir != cwd {
		return fmt.Sprintf("cwd %q is not there any more, or is another folder by now; nothing was done", cwd)
	}
	return repositoryStands(cwd)
}
