package replay

import (
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// What the player is told of the program that it plays to.
type (
	connected struct{ conn *link } // a child has come up
	hungUp    struct{ conn *link } // it is gone, or its input has ended
	heard     struct {             // a line of the program
		conn *link
		envelope
	}
	observed struct { // the engine was told of a job
		job   string
		event executor.Event
	}
	finished struct{ over *bool } // something that was set going; the player sets it
	taken    struct{ job string } // the executor has got a message
	sent     struct {             // a message has become part of a task, or was refused
		job, task string
		err       error
	}
)

// An inbox holds what the player has not seen yet. Putting never waits.
type inbox struct {
	wake chan struct{} // 1-buffered

	mu    sync.Mutex // guards items
	items []any
}

func newInbox() *inbox { return &inbox{wake: make(chan struct{}, 1)} }

func (i *inbox) put(item any) {
	i.mu.Lock()
	i.items = append(i.items, item)
	i.mu.Unlock()
	select {
	case i.wake <- struct{}{}:
	default:
	}
}

// take returns the next item, or nil when none comes in time.
func (i *inbox) take(until time.Time) any {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	for {
		i.mu.Lock()
		if len(i.items) > 0 {
			item := i.items[0]
			i.items = i.items[1:]
			i.mu.Unlock()
			return item
		}
		i.mu.Unlock()
		select {
		case <-i.wake:
		case <-timer.C:
			return nil
		}
	}
}
