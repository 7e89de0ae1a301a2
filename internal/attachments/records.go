package attachments

import (
	"context"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

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
