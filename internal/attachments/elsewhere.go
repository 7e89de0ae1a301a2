package attachments

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/remove"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/attach"
)

// Bounds of what is brought here for one reply from where its turn has worked.
const (
	bringTime   = 20 * time.Second
	mostLooks   = 100      // at files by their names, most of which are not there
	mostBrought = 75 << 20 // bytes of files, of which some may not be handed out
)

// offerOf makes files available that a reply names and that are not on this machine: those that it may mean are brought
// to a folder, and are as local ones from there.
func (a Attachments) offerOf(folder *agent.Folder, by attach.Maker, reply files.Reply) ([]attach.File, error) {
	if !a.platform && a.kept == nil { // a path of elsewhere is nothing to hand out
		return nil, nil
	}
	if err := os.MkdirAll(a.elsewhere, 0o700); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(a.elsewhere, "")
	if err != nil {
		return nil, err
	}
	defer func() { _ = remove.All(dir) }() // the next start does what this does not
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	ctx, cancel := context.WithTimeout(context.Background(), bringTime)
	defer cancel()
	b := &bringing{ctx: ctx, from: folder, to: root, room: roomIn(a.elsewhere), seen: map[string]bool{}, left: mostBrought}
	reply.Dir = folder.Cwd
	out := a.offerFrom(files.New(files.Config{Work: dir, As: folder.Dir, Fetch: b.bring, Log: a.log}), by, reply)
	for i := range out {
		if out[i].Kept != "" && !a.platform {
			out[i].URI = "kept:" + out[i].Name
		}
	}
	return out, b.failed
}

// A bringing brings the files of one reply.
type bringing struct {
	ctx    context.Context
	from   *agent.Folder
	to     *os.Root
	room   func(bytes int64) error
	seen   map[string]bool
	left   int64 // bytes that may still be brought
	failed error // why no more is brought; what is not there, or too large, is no failure
}

// bring has a file be there, by its path below the folder, if it can be had and is none that is too large.
func (b *bringing) bring(path string) {
	if b.failed != nil || b.seen[path] || len(b.seen) == mostLooks {
		return
	}
	b.seen[path] = true
	content, size, changed, err := b.from.Open(b.ctx, path)
	if b.ctx.Err() != nil {
		b.failed = fmt.Errorf("after %v: %w", bringTime, context.Cause(b.ctx))
	}
	if err != nil {
		return
	}
	defer content.Close()
	most := min(files.LargestOffer, b.left)
	if size < 0 || size > most {
		return
	}
	b.left -= size
	if err := errors.Join(b.room(size), b.write(path, content, size, changed)); err != nil {
		b.failed = fmt.Errorf("%q: %w", path, err)
	}
}

// write writes a file, whole or not at all.
func (b *bringing) write(path string, content io.Reader, size int64, changed time.Time) error {
	if err := b.to.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := b.to.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(file, io.LimitReader(content, size))
	if err == nil && n < size {
		err = io.ErrUnexpectedEOF
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, b.to.Remove(path))
	}
	return b.to.Chtimes(path, changed, changed)
}
