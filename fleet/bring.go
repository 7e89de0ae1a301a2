package fleet

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// incoming matches the paths of files that messages have brought, as texts name them: their names are plain.
func incoming(folder string) *regexp.Regexp {
	return regexp.MustCompile(regexp.QuoteMeta(folder) + `/[0-9a-f]{32}[A-Za-z0-9._-]*`)
}

// Bring implements [place.Place]: where machines have folders of their own, the files that a message has brought are
// copied there, and so are those of earlier messages that were not.
func (p *placed) Bring(ctx context.Context, text string) (string, error) {
	if p.f.cfg.Files != wire.FilesGit {
		return text, nil
	}
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	var failed error
	text = p.f.incoming.ReplaceAllStringFunc(text, func(path string) string {
		if failed != nil {
			return path
		}
		there := filepath.Join(wire.Staged, filepath.Base(path))
		switch size, err := p.copy(ctx, path, there, math.MaxInt64); {
		case err != nil:
			failed = err
		case size >= 0:
			p.f.files.earlier.note(p.conversation, path, p.machine)
			return filepath.Join(p.dir, there)
		}
		return path
	})
	if failed == nil {
		p.bringEarlier(ctx)
	}
	return text, failed
}

// copy brings one file, and returns its size. It is -1 of what is not there any more, or has too many bytes: that stays
// where it was named.
func (p *placed) copy(ctx context.Context, path, there string, most int64) (size int64, err error) {
	file, info, err := regular.Open(path)
	if err != nil {
		if !os.IsNotExist(err) {
			p.f.log.Warn("a file of a message cannot be brought to a machine", "path", path, "err", err)
		}
		return -1, nil
	}
	defer file.Close()
	if info.Size() > most {
		return -1, nil
	}
	if err := p.m.machine.Write(ctx, p.id, there, file); err != nil {
		return -1, fmt.Errorf("bring a file of the message to machine %s: %w", p.machine, err)
	}
	return info.Size(), nil
}
