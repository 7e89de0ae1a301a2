package main

import (
	"fmt"
	"os"
	"runtime"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

// codexSockets is the folder that codex keeps for its sockets in the temp directory of all
// users, wherever TMPDIR is: where it is another user's, codex starts no sandbox (0.169.0).
// It is empty on a system whose sandbox does without.
func codexSockets(user *asuser.User) string {
	if runtime.GOOS != "linux" {
		return ""
	}
	return fmt.Sprintf("/tmp/codex-daemon-%d", user.Number())
}

// takeSockets makes that folder before another user of the machine can. Whose it is if this
// fails, the check of the sandbox says.
func takeSockets(user *asuser.User) {
	if dir := codexSockets(user); dir != "" {
		_ = user.Do(func() error { return os.Mkdir(dir, 0o700) })
	}
}
