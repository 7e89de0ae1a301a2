package regular

import (
	"errors"
	"sync"
)

// A Keeper reads small files again each time, as others replace them, and has what stood in
// one last while a process keeps it from being read: a command of our own user may do that
// with a file that it may only read, and is not to decide by it who is let in. The zero value
// is ready; its methods may be called concurrently.
type Keeper struct {
	mu   sync.Mutex
	last map[string]string // by path
}

// Read is the function [Read]. Its error is [ErrHeld] only where nothing is known of the file.
func (k *Keeper) Read(path string, most int64) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	text, err := Read(path, most)
	if errors.Is(err, ErrHeld) {
		if last, known := k.last[path]; known {
			return []byte(last), nil
		}
		return nil, err
	}
	if err != nil {
		delete(k.last, path) // what is taken away does not go on to hold
		return nil, err
	}
	k.note(path, text)
	return text, nil
}

// Wrote says what has been written to a file, which can be held before it is read.
func (k *Keeper) Wrote(path string, text []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.note(path, text)
}

func (k *Keeper) note(path string, text []byte) {
	if k.last == nil {
		k.last = map[string]string{}
	}
	k.last[path] = string(text)
}
