package store

import (
	"fmt"
	"os"
	"path/filepath"
)

// A mark says which file a path stood for when the store was opened.
type mark struct {
	path string
	file os.FileInfo
}

// marks are of the database and of the lock: what is accepted must be where the next
// process looks for it, and that must not begin before this one has ended.
func marks(dir, database string) ([]mark, error) {
	var all []mark
	for _, path := range []string{database, filepath.Join(dir, "state.lock")} {
		file, err := os.Stat(path)
		if err != nil {
			return nil, fileError(path, err)
		}
		all = append(all, mark{path, file})
	}
	return all, nil
}

// Replaced returns [ErrReplaced] if the database or its lock has been taken away, or another
// put in its place: a backup restored over a store that is in use does that. The store goes
// on with files that nobody will see again. They are asked for by their names: opening them
// would drop SQLite's locks.
func (s *Store) Replaced() error {
	log := mark{path: s.path + "-wal"}
	log.file, _ = os.Stat(log.path) // before it is known that nothing was replaced
	for _, m := range s.marks {
		if !m.stands() {
			s.takeAway()
			return fmt.Errorf("%s: %w: restart the runtime, which then works with what is there", m.path, ErrReplaced)
		}
	}
	if log.file != nil && s.log.Load() == nil {
		s.log.Store(&log)
	}
	return nil
}

func (m mark) stands() bool {
	now, err := os.Stat(m.path)
	return err == nil && os.SameFile(now, m.file)
}

// takeAway puts our log aside where another database stands in the place of ours: should we be killed,
// the next process would play it into that, and ruin it.
func (s *Store) takeAway() {
	log := s.log.Load()
	if _, err := os.Stat(s.path); err != nil || log == nil || s.marks[0].stands() || !log.stands() {
		return
	}
	aside := log.path + ".replaced"
	err := os.Rename(log.path, aside)
	s.logger.Warn("another database was put in the place of the one that is in use, whose log was put aside", "path", s.path, "log", aside, "err", err)
}
