package fleet

import (
	"context"
	"sync"
)

// files know which conversations' files are kept here as their last turns have left them, and which are being kept. The
// zero value is ready.
type files struct {
	mu    sync.Mutex // guards the fields below
	going map[string]chan struct{}
	whole map[string]bool
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

// await waits until the files of a conversation are kept, and reports whether all of them are. A turn begins then: what
// it changes is not.
func (f *files) await(ctx context.Context, conversation string) (whole bool) {
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
	whole = f.whole[conversation]
	delete(f.whole, conversation)
	return whole
}
