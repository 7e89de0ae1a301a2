package fleet

import (
	"context"
	"path/filepath"
	"slices"
	"sync"

	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// Bounds of what is brought again of the files of a conversation's earlier messages.
const (
	mostEarlier      = 50
	mostEarlierBytes = 200 << 20
)

// earlier are the files that the messages of conversations have brought in the life of this process, and to which machine
// each was brought last. They are in no commit, and do not move with a conversation. The zero value is ready.
type earlier struct {
	mu    sync.Mutex // guards files
	files map[string][]brought
}

type brought struct{ path, machine string }

// note notes that a file was brought to a machine.
func (e *earlier) note(conversation, path, machine string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.files == nil {
		e.files = map[string][]brought{}
	}
	all := slices.DeleteFunc(e.files[conversation], func(b brought) bool { return b.path == path })
	all = append(all, brought{path, machine})
	e.files[conversation] = all[max(0, len(all)-mostEarlier):]
}

// missing are the files of a conversation that were not brought to a machine, the newest first.
func (e *earlier) missing(conversation, machine string) (paths []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, b := range slices.Backward(e.files[conversation]) {
		if b.machine != machine {
			paths = append(paths, b.path)
		}
	}
	return paths
}

// drop forgets a file, and forget all of a conversation.
func (e *earlier) drop(conversation, path string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.files[conversation] = slices.DeleteFunc(e.files[conversation], func(b brought) bool { return b.path == path })
}

func (e *earlier) forget(conversation string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.files, conversation)
}

// bringEarlier brings the files of earlier messages to where the conversation has moved. What cannot be brought has no turn
// fail that may not need it.
func (p *placed) bringEarlier(ctx context.Context) {
	left := int64(mostEarlierBytes)
	for _, path := range p.f.files.earlier.missing(p.conversation, p.machine) {
		size, err := p.copy(ctx, path, filepath.Join(wire.Staged, filepath.Base(path)), left)
		switch {
		case err != nil:
			p.f.log.Warn("files of earlier messages were not brought to the machine that a conversation has moved to", "machine", p.machine, "err", err)
			return
		case size < 0:
			p.f.files.earlier.drop(p.conversation, path)
		default:
			left -= size
			p.f.files.earlier.note(p.conversation, path, p.machine)
		}
	}
}
