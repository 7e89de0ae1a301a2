package codextest

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Commit names the commit that is measured, for figures that outlive it; "unknown" where
// git does not say.
func Commit() string {
	_, file, _, _ := runtime.Caller(0)
	cmd := exec.Command("git", "describe", "--always", "--dirty", "--exclude=*")
	cmd.Dir = filepath.Dir(file)
	out, err := cmd.Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
