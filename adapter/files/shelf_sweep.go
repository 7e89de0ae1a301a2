package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"
)

// A shelved is what a task has on a shelf.
type shelved struct {
	task  string
	peer  bool // another agent's
	bytes int64
	last  time.Time // when the newest of it was written
}

// Sweep deletes the copies of tasks that are not known any more, and those that are
// older than the shelf keeps anything. Copies may be kept while it asks what is known.
func (s *Shelf) Sweep(known func(task string) (bool, error)) error {
	s.mu.Lock()
	all, err := s.list()
	s.mu.Unlock()
	if err != nil {
		return err
	}
	var failed error
	for _, task := range all {
		is, err := known(task.task)
		if err != nil {
			return errors.Join(failed, err)
		}
		if !is || time.Since(task.last) > s.age {
			failed = errors.Join(failed, s.sweep(task))
		}
	}
	return failed
}

// sweep drops what a task had on the shelf when it was listed, unless more was kept of it
// since: that is left to the next time.
func (s *Shelf) sweep(listed shelved) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if info, err := os.Stat(s.path(listed)); err == nil && info.ModTime().Equal(listed.last) {
		return s.drop(listed)
	}
	return nil
}

// makeRoom lets the copies of other tasks go, the oldest first, until so much more can be kept for
// a task, and returns how much can be. Other agents have a quarter of the shelf, and it is theirs
// that go where they would have more. Where the disk itself is full all stay: something else fills
// it. The caller holds s.mu.
func (s *Shelf) makeRoom(by Owner, size int64) (room int64, err error) {
	if s.Room != nil {
		if err := s.Room(size); err != nil {
			return 0, err
		}
	}
	if !by.Peer && s.used >= 0 && s.used+size <= s.most {
		return s.most - s.used, nil
	}
	all, err := s.list() // counts anew: others may have tidied up
	if err != nil {
		return 0, err
	}
	peers := int64(0)
	for _, one := range all {
		if one.peer {
			peers += one.bytes
		}
	}
	drop := func(due func(other shelved) bool) {
		all = slices.DeleteFunc(all, func(other shelved) bool {
			if err != nil || other.task == by.Task || !due(other) {
				return false
			}
			err = s.drop(other)
			if other.peer {
				peers -= other.bytes
			}
			return true
		})
	}
	drop(func(other shelved) bool { return by.Peer && other.peer && peers+size > s.most/peerShare })
	drop(func(shelved) bool { return s.used+size > s.most })
	if err != nil {
		return 0, err
	}
	room, most := s.most-s.used, s.most
	if by.Peer {
		room, most = min(room, s.most/peerShare-peers), s.most/peerShare
	}
	if size > room {
		return 0, fmt.Errorf("%w: handed-out files may take %d MiB here (RUNTIME_FILES_MIB; other agents have a quarter of it)", ErrTooLarge, most>>20)
	}
	return room, nil
}

// list returns what stands on the shelf, the oldest first, and counts it. The caller
// holds s.mu.
func (s *Shelf) list() ([]shelved, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the folder of handed-out files: %w", err)
	}
	s.used = 0
	var all []shelved
	for _, entry := range entries {
		if !entry.IsDir() || !taskName.MatchString(entry.Name()) {
			continue
		}
		one := shelved{task: entry.Name()}
		files, err := os.ReadDir(s.path(one))
		if err != nil {
			return nil, fmt.Errorf("read the folder of handed-out files: %w", err)
		}
		if info, err := entry.Info(); err == nil {
			one.last = info.ModTime()
		}
		for _, file := range files {
			one.peer = one.peer || file.Name() == peerMark
			if info, err := file.Info(); err == nil {
				one.bytes += info.Size()
			}
		}
		s.used += one.bytes
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b shelved) int { return a.last.Compare(b.last) })
	return all, nil
}

func (s *Shelf) path(one shelved) string { return s.dir + string(os.PathSeparator) + one.task }

func (s *Shelf) drop(one shelved) error {
	if err := os.RemoveAll(s.path(one)); err != nil {
		s.used = -1
		return fmt.Errorf("delete handed-out files: %w", err)
	}
	s.used -= one.bytes
	return nil
}
