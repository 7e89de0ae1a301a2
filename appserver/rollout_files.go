package appserver

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// threadID is what codex names threads with, and their files after.
var threadID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// HasRollout reports whether a CODEX_HOME has a thread that codex can resume: one with
// a file that is not archived.
func HasRollout(home, thread string) (bool, error) {
	if !threadID.MatchString(thread) {
		return false, nil
	}
	found, err := rollouts(filepath.Join(home, "sessions/*/*/*"), thread)
	if err != nil {
		return false, fmt.Errorf("look for the file of thread %s: %w", thread, err)
	}
	return len(found) > 0, nil
}

// RemoveRollout deletes the files of a thread from a CODEX_HOME. The thread must
// not be loaded. One that has none is no error.
func RemoveRollout(home, thread string) error {
	if !threadID.MatchString(thread) {
		return fmt.Errorf("remove the file of thread %q: codex names no thread like that", thread)
	}
	for _, folder := range []string{"sessions/*/*/*", "archived_sessions"} {
		found, err := rollouts(filepath.Join(home, folder), thread)
		if err != nil {
			return fmt.Errorf("remove the file of thread %s: %w", thread, err)
		}
		for _, path := range found {
			if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
				return fmt.Errorf("remove the file of thread %s: %w", thread, err)
			}
		}
	}
	return nil
}

// rollouts returns the files of a thread in a folder: the first, and those in
// which it went on after a part of its history was taken back.
func rollouts(folder, thread string) ([]string, error) {
	first, err := filepath.Glob(filepath.Join(folder, "rollout-*-"+thread+".jsonl*"))
	if err != nil {
		return nil, err
	}
	later, err := filepath.Glob(filepath.Join(folder, "rollout-*-"+thread+"_*.jsonl*"))
	return append(first, later...), err
}
