package store

import (
	"context"
	"errors"
	"time"
)

// A FileUse is a file in the folder of messages as something names it.
type FileUse struct {
	Name string // in the folder
	Peer bool   // only other agents have it
	Own  bool   // it was brought as one message's own, and is of no use without
}

// A FileRecord is what all that name a file say of it.
type FileRecord struct {
	Name  string
	Peer  bool      // all of its uses say so
	Own   bool      // one of its uses says so
	Named bool      // by a message, or a task that hands it out
	Open  bool      // one of those tasks has not ended
	Ended time.Time // the latest end of those tasks; zero if there is none, or none is known any more
}

// NoteFile notes a file that is about to be brought, and the task that it is made for,
// which may be empty. Other agents take no file from those who have it, too.
func (s *Store) NoteFile(ctx context.Context, task string, f FileUse) error {
	return s.do(ctx, "note a file", relaxed, func(c *conn) error {
		var of int64
		if task != "" {
			var err error
			if of, err = c.taskNumber(task); err != nil && !errors.Is(err, ErrUnknown) {
				return err
			}
		}
		return c.useFile(f, 0, of)
	})
}

// FileRecord returns what is known of a file: the zero value but for its name, if nothing is.
func (s *Store) FileRecord(ctx context.Context, name string) (FileRecord, error) {
	return view(ctx, s, "look a file up", func(c *conn) (FileRecord, error) {
		found, err := collect(c, scanFile, fileRecords+" WHERE f.name = ?"+byFile, name)
		if err != nil || len(found) == 0 {
			return FileRecord{Name: name}, err
		}
		return found[0], nil
	})
}

// FileRecords returns what is known of all files.
func (s *Store) FileRecords(ctx context.Context) ([]FileRecord, error) {
	return view(ctx, s, "list the files", func(c *conn) ([]FileRecord, error) {
		return collect(c, scanFile, fileRecords+byFile)
	})
}

// ForgetFiles forgets files that are not there any more.
func (s *Store) ForgetFiles(ctx context.Context, names ...string) error {
	return s.do(ctx, "forget files", relaxed, func(c *conn) error {
		for _, name := range names {
			if _, err := c.exec("DELETE FROM files WHERE name = ?", name); err != nil {
				return err
			}
		}
		return nil
	})
}

const (
	fileRecords = `SELECT f.name, min(f.peer), max(f.own), max(f.task > 0), max(t.n IS NOT NULL AND t.ended_at IS NULL), max(coalesce(t.ended_at, 0))
	FROM files f LEFT JOIN tasks t ON t.n = f.task`
	byFile = " GROUP BY f.name"
)

func scanFile(row scanner, f *FileRecord) error {
	var ended int64
	err := row.Scan(&f.Name, &f.Peer, &f.Own, &f.Named, &f.Open, &ended)
	f.Ended = instant(ended)
	return err
}

// useFile notes that something names a file.
func (c *conn) useFile(f FileUse, message, task int64) error {
	_, err := c.exec(`INSERT INTO files (name, message, task, peer, own) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (name, message) DO UPDATE SET task = excluded.task, peer = min(peer, excluded.peer), own = max(own, excluded.own)`,
		f.Name, message, task, f.Peer, f.Own)
	return err
}

// useFiles notes the files that an accepted message names. What they were brought as is
// settled with that.
func (c *conn) useFiles(job string, task int64, files []FileUse) error {
	if len(files) == 0 {
		return nil
	}
	row, err := c.jobRow(job)
	for _, f := range files {
		if err == nil {
			err = c.useFile(f, row.seq, task)
		}
		if err == nil {
			_, err = c.exec("DELETE FROM files WHERE name = ? AND message = 0 AND task = 0", f.Name)
		}
	}
	return err
}

// letGo has the uses of a message become one of nothing, or of the task that hands the file
// out: what is known of whose the file is stays known.
const letGo = `INSERT INTO files (name, message, task, peer, own) SELECT name, 0, 0, peer, own FROM files WHERE task = ? AND message = ?
	ON CONFLICT (name, message) DO UPDATE SET peer = min(peer, excluded.peer), own = max(own, excluded.own)`

// unuse lets go of the files of a message.
func (c *conn) unuse(task, seq int64) error {
	_, err := c.exec(letGo, task, seq)
	if err == nil {
		_, err = c.exec("DELETE FROM files WHERE task = ? AND message = ?", task, seq)
	}
	return err
}

// unuseFiles lets go of the files of messages for which no attempt was begun.
func (c *conn) unuseFiles(jobs []string) error {
	for _, job := range jobs {
		var seq, task int64
		err := c.get("SELECT seq, task FROM messages WHERE job = ? AND attempt = 0", list(job), &seq, &task)
		if err == nil {
			err = c.unuse(task, seq)
		}
		if err != nil && !errors.Is(err, ErrUnknown) {
			return err
		}
	}
	return nil
}

// forgetUses are what a task leaves that is forgotten: its files stay for as long as there is
// room for them, also those that were a message's own.
var forgetUses = []string{ //nolint:gochecknoglobals // a constant
	`INSERT INTO files (name, message, task, peer, own) SELECT name, 0, 0, peer, 0 FROM files WHERE task = ? AND message > 0
		ON CONFLICT (name, message) DO UPDATE SET peer = min(peer, excluded.peer), own = 0`,
	"DELETE FROM files WHERE task = ? AND message > 0",
	"UPDATE files SET task = 0 WHERE task = ?",
}
