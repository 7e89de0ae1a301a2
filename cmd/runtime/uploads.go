package main

import (
	"context"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// uploads is what bounds the files of messages, in all the folders of the working directory.
func (app *application) uploads(s settings.Settings, journal *store.Store) *files.Quota {
	most := func() int64 { return store.ShareOfDisk(s.WorkDir, int64(s.UploadsMiB)<<20) }
	return files.NewQuota(files.Config{Work: s.WorkDir, User: s.User, Log: app.log}, fileRecords{journal}, most)
}

// roomForFiles asks the disk of the working directory for room for a file of a message, and
// that of the state, which has to take the message.
func roomForFiles(s settings.Settings) func(bytes int64) error {
	return func(bytes int64) error {
		if err := store.RoomForFiles(s.WorkDir, bytes); err != nil {
			return err
		}
		return store.RoomForFiles(s.StateDir, 0)
	}
}

// fileRecords are what the state knows of the files of messages. It implements [files.Records].
type fileRecords struct{ journal *store.Store }

// Note implements [files.Records].
func (r fileRecords) Note(name string, of files.Owner) error {
	return r.journal.NoteFile(context.Background(), of.Task, store.FileUse{Name: name, Peer: of.Peer, Own: of.Own})
}

// One implements [files.Records].
func (r fileRecords) One(name string) (files.Record, error) {
	known, err := r.journal.FileRecord(context.Background(), name)
	return files.Record(known), err
}

// All implements [files.Records].
func (r fileRecords) All() ([]files.Record, error) {
	known, err := r.journal.FileRecords(context.Background())
	all := make([]files.Record, 0, len(known))
	for _, one := range known {
		all = append(all, files.Record(one))
	}
	return all, err
}

// Forget implements [files.Records].
func (r fileRecords) Forget(names ...string) error {
	return r.journal.ForgetFiles(context.Background(), names...)
}
