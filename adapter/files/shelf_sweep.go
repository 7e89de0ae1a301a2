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
	all, err := s.listLocked()
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
		if !is || s.isOld(task.last) {
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

// makeRoomLocked lets the copies of other tasks go, the oldest first, until so much more can be kept for
// a task, and returns how much can be. Other agents have a quarter of the shelf, and it is theirs
// that go where they would have more. Nothing goes for what has no room all the same, nor where the
// disk itself is full: something else fills it.
func (s *Shelf) makeRoomLocked(by Owner, size int64) (room int64, err error) {
	if s.Room != nil {
		if err := s.Room(size); err != nil {
			return 0, err
		}
	}
	if s.used.all < 0 || s.roomOfLocked(by) < size {
		if err := s.letGoLocked(by, size); err != nil {
			return 0, err
		}
	}
	return s.roomOfLocked(by), nil
}

// mostOf is how much those may have on the shelf whom a task is of.
func (s *Shelf) mostOf(by Owner) int64 {
	if by.Peer {
		return s.most / peerShare
	}
	return s.most
}

// roomOfLocked is how much more can be kept for a task as it is.
func (s *Shelf) roomOfLocked(by Owner) int64 {
	room := s.most - s.used.all
	if by.Peer {
		room = min(room, s.mostOf(by)-s.used.peers)
	}
	return room
}

// letGoLocked drops what has to go.
func (s *Shelf) letGoLocked(by Owner, size int64) error {
	all, err := s.listLocked() // counts anew: others may have tidied up
	if err != nil {
		return err
	}
	own := int64(0)
	all = slices.DeleteFunc(all, func(one shelved) bool {
		if one.task == by.Task {
			own = one.bytes
		}
		return one.task == by.Task
	})
	if own+size > s.mostOf(by) {
		return fmt.Errorf("%w: handed-out files may take %d MiB here (RUNTIME_FILES_MIB; other agents have a quarter of it)", ErrTooLarge, s.mostOf(by)>>20)
	}
	drop := func(due func(one shelved) bool) {
		all = slices.DeleteFunc(all, func(one shelved) bool {
			if err != nil || !due(one) {
				return false
			}
			err = s.drop(one)
			return true
		})
	}
	if by.Peer {
		drop(func(one shelved) bool { return one.peer && s.used.peers+size > s.mostOf(by) })
	}
	drop(func(shelved) bool { return s.used.all+size > s.most })
	return err
}

// listLocked returns what stands on the shelf, the oldest first, and counts it.
func (s *Shelf) listLocked() ([]shelved, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the folder of handed-out files: %w", err)
	}
	s.used = shelfUse{}
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
		s.used.add(one.bytes, one.peer)
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b shelved) int { return a.last.Compare(b.last) })
	return all, nil
}

func (s *Shelf) path(one shelved) string { return s.dir + string(os.PathSeparator) + one.task }

func (s *Shelf) drop(one shelved) error {
	if err := os.RemoveAll(s.path(one)); err != nil {
		s.used.all = -1
		return fmt.Errorf("delete handed-out files: %w", err)
	}
	s.used.add(-one.bytes, one.peer)
	return nil
}
