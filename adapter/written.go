package adapter

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// noteWritten notes what commands of the codex that is started now write in their sandbox by the
// operator's leave, and keeps there what codex keeps from them.
func (s *Setup) noteWritten(l Launch) {
	var roots []string
	if l.Sandboxed {
		roots = slices.DeleteFunc(l.Written(), isNoFolder)
	}
	for _, root := range roots {
		_ = Occupy(root, l.User) // as the work directory
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.written = roots
}

// isNoFolder reports whether nothing of ours belongs into a root: it is a file, or git's own.
func isNoFolder(root string) bool {
	info, err := os.Stat(root)
	_, git := os.Lstat(filepath.Join(root, "HEAD"))
	return err == nil && !info.IsDir() || git == nil || strings.Contains(root+"/", "/.git/")
}

// Roots are the directories, beside the work directory, that commands of the codex that was started
// last write by the operator's leave.
func (s *Setup) Roots() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.written
}
