package fleet

import (
	"context"
	"io"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// Read implements [place.Place]: a shared folder is on this machine, too.
func (p *placed) Read() func(ctx context.Context, path string) (content io.ReadCloser, size int64, changed time.Time, err error) {
	if p.f.cfg.Files != wire.FilesGit {
		return nil
	}
	return func(ctx context.Context, path string) (io.ReadCloser, int64, time.Time, error) {
		ctx, cancel := context.WithCancel(ctx)
		stop := context.AfterFunc(p.in.ctx, cancel)
		over := func() {
			stop()
			cancel()
		}
		content, about, err := p.m.machine.Read(ctx, p.id, path)
		if err != nil {
			over()
			return nil, 0, time.Time{}, err
		}
		return &reading{content, over}, about.Size, time.Now().Add(-about.Age), nil
	}
}

// A reading of a file ends with the stay of its machine.
type reading struct {
	io.ReadCloser
	over func()
}

// Close ends it.
func (r *reading) Close() error {
	defer r.over()
	return r.ReadCloser.Close()
}
