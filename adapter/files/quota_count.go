package files

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// Count counts what stands in the folder anew. What a message brought that was never accepted,
// before a kill, goes, and what is known of files that are gone is forgotten.
func (q *Quota) Count() error {
	if q == nil {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	known, whole, err := q.countLocked()
	if err != nil {
		return err
	}
	var failed error
	var gone []string
	for name, record := range known {
		switch e := q.entries[name]; {
		case e == nil && whole:
			gone = append(gone, name)
		case e != nil && record.Own && !record.Named && e.holds == 0:
			failed = errors.Join(failed, q.removeLocked(name))
		}
	}
	if len(gone) > 0 {
		failed = errors.Join(failed, q.records.Forget(gone...))
	}
	return failed
}

// countedLocked counts what stands there, unless that is known.
func (q *Quota) countedLocked() error {
	if q.entries != nil {
		return nil
	}
	_, _, err := q.countLocked()
	return err
}

// countLocked has the entries agree with what stands there. It returns the records by their names,
// and whether all that stands there counts.
func (q *Quota) countLocked() (known map[string]Record, whole bool, err error) {
	found, whole, err := q.list()
	if err != nil {
		return nil, false, fmt.Errorf("count the files of messages: %w", err)
	}
	if known, err = q.known(); err != nil {
		return nil, false, err
	}
	entries := make(map[string]*entry, len(found))
	for name, e := range q.entries {
		if e.holds > 0 {
			entries[name], e.bytes = e, 0
		}
	}
	q.used = tally{}
	for _, info := range found {
		name := info.Name()
		e := q.entries[name]
		if e == nil {
			e = &entry{peer: known[name].Peer}
		}
		entries[name] = e
		e.bytes, e.at = size(info), info.ModTime()
		q.used.add(e.peer, e.bytes)
	}
	q.entries = entries
	return known, whole, nil
}

// known are the records by their names.
func (q *Quota) known() (map[string]Record, error) {
	all, err := q.records.All()
	if err != nil {
		return nil, err
	}
	known := make(map[string]Record, len(all))
	for _, record := range all {
		known[record.Name] = record
	}
	return known, nil
}

// list returns the files in the folder, and whether these are all of them: commands may have
// put any number there. Of more than twice as many as could have room the others count when
// these have gone.
func (q *Quota) list() (found []fs.FileInfo, whole bool, err error) {
	most := int(2*q.most()/least) + 1
	found, err = asuser.Value(q.folder.cfg.User, func() ([]fs.FileInfo, error) { return q.folder.list(most) })
	if errors.Is(err, regular.ErrMany) {
		return found, false, nil
	}
	return found, err == nil, err
}

// list returns the files in the folder, with [regular.ErrMany] so many at most.
func (f *Folder) list(most int) (found []fs.FileInfo, err error) {
	root, err := f.openExisting()
	if nothing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	err = regular.EachIn(root, func(name string) error {
		if !storedName.MatchString(name) {
			return nil
		}
		info, err := root.Lstat(name)
		if err != nil || !info.Mode().IsRegular() {
			return nil //nolint:nilerr // it has gone meanwhile
		}
		if len(found) == most {
			return regular.ErrMany
		}
		found = append(found, info)
		return nil
	})
	return found, err
}

// size is what a file counts: its length or what the disk has for it, whichever is more, as
// there are gaps in some and others are packed by the file system.
func size(info fs.FileInfo) int64 {
	n := max(info.Size(), least)
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		n = max(n, stat.Blocks*512)
	}
	return n
}
