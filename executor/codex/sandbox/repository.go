package sandbox

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// mostPointer is how large a file .git may be that names the folder of a repository: one
// line with a path.
const mostPointer = 64 << 10

// repositoryStands says why codex must not be led to the repository of a folder. codex
// looks for one from the folder upwards, and a file .git it reads whole before it answers
// anybody (seen on 0.169.0), so one of gigabytes, one of /proc, or a pipe, stops it for all.
// Commands can put such a thing into every folder but the working directory itself.
func repositoryStands(dir string) (why string) {
	for {
		path := filepath.Join(dir, ".git")
		info, err := os.Stat(path)
		switch {
		case err == nil && (info.IsDir() || info.Mode().IsRegular() && !within.Exceeds(path, mostPointer)):
			return ""
		case err == nil:
			return fmt.Sprintf("cwd: %s is no repository's (%v, %d bytes), and codex would read it whole: remove it; nothing was done", path, info.Mode(), info.Size())
		case !isMissing(path):
			return "" // a link that leads nowhere, or what we may not see: codex reads nothing of it
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

func isMissing(path string) bool {
	_, err := os.Lstat(path)
	return os.IsNotExist(err)
}
