package attachments

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// Kept are the copies of files that tasks have handed out, for as long as the
// tasks are known. It implements [guard.Kept].
type Kept struct {
	shelf   *files.Shelf
	journal *store.Store
}

// Open implements [guard.Kept].
func (k *Kept) Open(ctx context.Context, task, token string) (*os.File, fs.FileInfo, error) {
	file, info, err := k.shelf.Open(task, token)
	if err != nil {
		return nil, nil, err
	}
	known, err := k.journal.Has(ctx, task)
	if err == nil && !known {
		err = files.ErrNotHere
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

// lookLimit is what the journal gets to say whether a task is known.
const lookLimit = time.Minute

// sweep deletes what belongs to tasks that are forgotten.
func (k *Kept) sweep() error {
	return k.shelf.Sweep(func(task string) (bool, error) {
		ctx, cancel := context.WithTimeout(context.Background(), lookLimit)
		defer cancel()
		return k.journal.Has(ctx, task)
	})
}
