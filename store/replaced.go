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
	for _, m := range s.marks {
		if now, err := os.Stat(m.path); err != nil || !os.SameFile(now, m.file) {
			return fmt.Errorf("%s: %w: restart the runtime, which then works with what is there", m.path, ErrReplaced)
		}
	}
	return nil
}
