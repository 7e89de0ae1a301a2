package appserver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// threadID is what codex names threads with, and their files after.
var (
	threadID    = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	rolloutName = regexp.MustCompile(`^rollout-.*?-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})[._]`)
)

// HasRollout reports whether a CODEX_HOME has a thread that codex can resume: one with
// a file that is not archived.
func HasRollout(home, thread string) (bool, error) {
	if !threadID.MatchString(thread) {
		return false, nil
	}
	found, err := rollouts(filepath.Join(home, sessions), daysDeep, thread)
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
	live, err := rollouts(filepath.Join(home, sessions), daysDeep, thread)
	more, errArchived := rollouts(filepath.Join(home, archived), 0, thread)
	if err := errors.Join(err, errArchived); err != nil {
		return fmt.Errorf("remove the file of thread %s: %w", thread, err)
	}
	for _, path := range append(live, more...) {
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("remove the file of thread %s: %w", thread, err)
		}
	}
	return nil
}

// The files of threads stand in folders for their days: sessions/2026/01/31.
const (
	sessions = "sessions"
	archived = "archived_sessions"
	daysDeep = 3
)

// mostLooked is how many names are looked at, in all folders, to find those of a thread.
const mostLooked = 1 << 20

// RolloutSizes returns how many bytes the files of each thread have in a CODEX_HOME.
func RolloutSizes(home string) (map[string]int64, error) {
	sizes := map[string]int64{}
	all := search{left: mostLooked, found: func(path string) {
		name := rolloutName.FindStringSubmatch(filepath.Base(path))
		if info, err := os.Lstat(path); name != nil && err == nil && info.Mode().IsRegular() {
			sizes[name[1]] += info.Size()
		}
	}}
	if err := errors.Join(all.in(filepath.Join(home, sessions), daysDeep), all.in(filepath.Join(home, archived), 0)); err != nil {
		return nil, fmt.Errorf("look for the files of threads: %w", err)
	}
	return sizes, nil
}

// rollouts returns the files of a thread so many folders deep in a folder: the first, and
// those in which it went on after a part of its history was taken back.
func rollouts(folder string, deep int, thread string) (found []string, err error) {
	s := search{left: mostLooked, found: func(path string) {
		if isOf(filepath.Base(path), thread) {
			found = append(found, path)
		}
	}}
	err = s.in(folder, deep)
	return found, err
}

// A search looks for the files of threads. The home is codex's user's, whose commands can
// fill it.
type search struct {
	left  int // names that may still be looked at
	found func(path string)
}

func (s *search) in(folder string, deep int) error {
	var below []string
	err := regular.Each(folder, func(name string) error {
		s.left--
		switch {
		case s.left < 0:
			return regular.ErrMany
		case deep > 0 && isDay(name):
			below = append(below, name)
		case deep == 0:
			s.found(filepath.Join(folder, name))
		}
		return nil
	})
	if errors.Is(err, regular.ErrMany) {
		return fmt.Errorf("%s: %w", folder, err)
	}
	slices.Sort(below)
	for _, name := range below { // of what is no folder, or cannot be read, there is nothing
		if err := s.in(filepath.Join(folder, name), deep-1); err != nil {
			return err
		}
	}
	return nil
}

// isDay reports whether a folder is for a year, a month or a day.
func isDay(name string) bool { return len(name) <= 4 && strings.Trim(name, "0123456789") == "" }

// isOf reports whether a file is one of a thread's.
func isOf(name, thread string) bool {
	rest, ok := strings.CutPrefix(name, "rollout-")
	_, rest, its := strings.Cut(rest, "-"+thread)
	return ok && its && (strings.HasPrefix(rest, ".jsonl") || strings.HasPrefix(rest, "_") && strings.Contains(rest, ".jsonl"))
}
