package rollout

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// threadID is what codex names threads with, and rolloutName their files after: the first, and
// those in which a thread went on after a part of its history was taken back.
var (
	threadID    = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	rolloutName = regexp.MustCompile(`^rollout-.*?-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(_.*)?\.jsonl`)
)

// threadOf is the thread that a file is of, by its name; empty if it is of none.
func threadOf(name string) string {
	if of := rolloutName.FindStringSubmatch(name); of != nil {
		return of[1]
	}
	return ""
}

// A Home is a CODEX_HOME. What is done in it is done as its user.
type Home struct {
	Dir  string
	User *asuser.User // whose it is; nil is ours
}

// Has reports whether there is a thread that codex can resume: one with a file that is not archived.
func (h Home) Has(thread string) (bool, error) {
	if !threadID.MatchString(thread) {
		return false, nil
	}
	found := false
	s := search{left: mostLooked, found: func(path string) { found = found || threadOf(filepath.Base(path)) == thread }}
	if err := h.User.Do(func() error { return s.in(filepath.Join(h.Dir, sessions), daysDeep) }); err != nil {
		return false, fmt.Errorf("look for the file of thread %s: %w", thread, err)
	}
	return found, nil
}

// Remove deletes the files of threads. None of these may be used again, and one that codex still has
// loaded it can delete without its file. One that has no file is no error. It returns those of which a
// file is left, with the reason.
func (h Home) Remove(threads []string) (left map[string]error, err error) {
	left = map[string]error{}
	wanted := map[string]bool{}
	for _, thread := range threads {
		if wanted[thread] = threadID.MatchString(thread); !wanted[thread] {
			left[thread] = fmt.Errorf("remove the file of thread %q: codex names no thread like that", thread)
		}
	}
	err = h.each(func(thread, path string) {
		if !wanted[thread] {
			return
		}
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			left[thread] = fmt.Errorf("remove the file of thread %s: %w", thread, err)
		}
	})
	return left, err
}

// Sizes returns how many bytes the files of threads have, by what sums them up: the session that a
// thread belongs to, say, see [SessionOf].
func (h Home) Sizes(by func(thread, path string) string) (map[string]int64, error) {
	sizes := map[string]int64{}
	err := h.each(func(thread, path string) {
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			sizes[by(thread, path)] += info.Size()
		}
	})
	return sizes, err
}

// each shows the files of all threads, the archived ones too.
func (h Home) each(show func(thread, path string)) error {
	all := search{left: mostLooked, found: func(path string) {
		if thread := threadOf(filepath.Base(path)); thread != "" {
			show(thread, path)
		}
	}}
	err := h.User.Do(func() error {
		return errors.Join(all.in(filepath.Join(h.Dir, sessions), daysDeep), all.in(filepath.Join(h.Dir, archived), 0))
	})
	if err != nil {
		return fmt.Errorf("look for the files of threads: %w", err)
	}
	return nil
}

// mostForks is how far a line of forks is followed.
const mostForks = 32

// FindTrace is [ReadTrace] in all files of the thread that the rollout file at path is of, and of those that
// it is a fork of: what stood in its history before a part of that was taken back is in the files before it,
// and what stood there before a fork in those of the other thread (seen on 0.169.0).
func FindTrace(path, clientID string) (Trace, error) {
	trace, err := ReadTrace(path, clientID)
	if err != nil || trace.Found {
		return trace, err
	}
	thread := threadOf(filepath.Base(path))
	for hops := 0; thread != "" && hops < mostForks; hops++ {
		files, err := besides(path, thread)
		if err != nil || len(files) == 0 {
			return Trace{}, err
		}
		for _, other := range files {
			if other == path {
				continue
			}
			if trace, err := ReadTrace(other, clientID); err != nil || trace.Found {
				return trace, err
			}
		}
		thread = headOf(files[0], forkedFrom) // they all say so
	}
	return Trace{}, nil
}

// besides returns the files of a thread in the folders that the rollout file at path stands in.
func besides(path, thread string) (files []string, _ error) {
	s := search{left: mostLooked, found: func(other string) {
		if thread != "" && threadOf(filepath.Base(other)) == thread {
			files = append(files, other)
		}
	}}
	all := path
	for range daysDeep + 1 { // sessions/2026/01/31/rollout-….jsonl
		all = filepath.Dir(all)
	}
	if err := s.in(all, daysDeep); err != nil {
		return nil, fmt.Errorf("look for the files of thread %s: %w", thread, err)
	}
	return files, nil
}

// The files of threads stand in folders for their days: sessions/2026/01/31.
const (
	sessions = "sessions"
	archived = "archived_sessions"
	daysDeep = 3
)

// mostLooked is how many names are looked at, in all folders, to find those of a thread.
const mostLooked = 1 << 20

// sessionID is where the first line of a thread's file says whose session the thread belongs to.
var sessionID = regexp.MustCompile(`"session_id":"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"`)

// forkedFrom finds the thread that a thread is a fork of.
var forkedFrom = regexp.MustCompile(`"forked_from_id":"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"`)

// SessionOf is the session that a thread belongs to, by its file: that of a subagent belongs to
// the thread that it works for, whose id the session has. It is empty where the file does not say.
func SessionOf(path string) string { return headOf(path, sessionID) }

// headOf is what a rollout file says of its thread in its first line; empty where it does not.
func headOf(path string, says *regexp.Regexp) string {
	const head = 1 << 10 // it stands before the instructions
	file, _, err := regular.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	line := make([]byte, head)
	n, _ := io.ReadFull(file, line)
	if found := says.FindSubmatch(line[:n]); found != nil {
		return string(found[1])
	}
	return ""
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
