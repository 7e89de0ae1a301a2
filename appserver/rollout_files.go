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
var threadID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

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
	archived, errArchived := rollouts(filepath.Join(home, "archived_sessions"), 0, thread)
	if err := errors.Join(err, errArchived); err != nil {
		return fmt.Errorf("remove the file of thread %s: %w", thread, err)
	}
	for _, path := range append(live, archived...) {
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("remove the file of thread %s: %w", thread, err)
		}
	}
	return nil
}

// The files of threads stand in folders for their days: sessions/2026/01/31.
const (
	sessions = "sessions"
	daysDeep = 3
)

// mostLooked is how many names are looked at, in all folders, to find those of a thread.
const mostLooked = 1 << 20

// rollouts returns the files of a thread so many folders deep in a folder: the first, and
// those in which it went on after a part of its history was taken back.
func rollouts(folder string, deep int, thread string) ([]string, error) {
	s := search{thread: thread, left: mostLooked}
	err := s.in(folder, deep)
	return s.found, err
}

// A search looks for the files of a thread. The home is codex's user's, whose commands can
// fill it.
type search struct {
	thread string
	left   int // names that may still be looked at
	found  []string
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
		case deep == 0 && s.wants(name):
			s.found = append(s.found, filepath.Join(folder, name))
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

func (s *search) wants(name string) bool {
	rest, ok := strings.CutPrefix(name, "rollout-")
	_, rest, its := strings.Cut(rest, "-"+s.thread)
	return ok && its && (strings.HasPrefix(rest, ".jsonl") || strings.HasPrefix(rest, "_") && strings.Contains(rest, ".jsonl"))
}
