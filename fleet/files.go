package fleet

import (
	"context"
	"sync"

	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// files know which conversations' files are kept here as their last turns have left them, and which are being kept. The
// zero value is ready.
type files struct {
	earlier earlier

	mu    sync.Mutex // guards the fields below
	going map[string]chan struct{}
	whole map[string]bool
	left  map[string]wire.Left // what their last commits have left out, of those that have left out something
	fresh map[string]bool      // whose turn has a folder that was made for it
}

// A keeping is what is kept here of the files of a conversation.
type keeping struct {
	whole bool      // as the last turn has left them, but for those below
	left  wire.Left // that stay on their machine
}

// keep notes that the files of a conversation are being kept. What is returned says how that has ended.
func (f *files) keep(conversation string) (kept func(whole bool)) {
	over := make(chan struct{})
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.going == nil {
		f.going, f.whole = map[string]chan struct{}{}, map[string]bool{}
	}
	f.going[conversation] = over
	f.whole[conversation] = false
	return func(whole bool) {
		f.mu.Lock()
		defer f.mu.Unlock()
		close(over)
		if f.going[conversation] == over {
			delete(f.going, conversation)
			f.whole[conversation] = whole
		}
	}
}

// await waits until the files of a conversation are kept, and returns what is.
func (f *files) await(ctx context.Context, conversation string) keeping {
	f.mu.Lock()
	over := f.going[conversation]
	f.mu.Unlock()
	if over != nil {
		select {
		case <-over:
		case <-ctx.Done():
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return keeping{f.whole[conversation], f.left[conversation]}
}

// begin notes that a turn begins: what it changes is not kept.
func (f *files) begin(conversation string, fresh bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.whole, conversation)
	delete(f.fresh, conversation)
	if fresh {
		if f.fresh == nil {
			f.fresh = map[string]bool{}
		}
		f.fresh[conversation] = true
	}
}

// isFresh reports whether the folder of a conversation was made for the turn that it has now.
func (f *files) isFresh(conversation string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fresh[conversation]
}

// leave notes what a commit of a conversation has left out.
func (f *files) leave(conversation string, left wire.Left) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if left.Count == 0 {
		delete(f.left, conversation)
		return
	}
	if f.left == nil {
		f.left = map[string]wire.Left{}
	}
	f.left[conversation] = left
}

// forget drops what is known of a conversation.
func (f *files) forget(conversation string) {
	f.earlier.forget(conversation)
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.whole, conversation)
	delete(f.left, conversation)
	delete(f.fresh, conversation)
}
