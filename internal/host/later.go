package host

import (
	"sync/atomic"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// A Later is a part that is built after those which call it, such as the registration that a client of the platform asks
// for. It is set once, while the runtime is built.
type Later[T any] struct{ part atomic.Pointer[T] }

// Set says what it is.
func (l *Later[T]) Set(part *T) { l.part.Store(part) }

// Get returns it; nil while it is not built.
func (l *Later[T]) Get() *T { return l.part.Load() }

// Heard is how the engine hears of what the user of a workspace is told beside the answers to messages. Those who tell them
// are built before the engine is; until it is, it has no tasks which that could concern.
type Heard struct{ engine Later[tasks.Engine] }

// Said tells that the user is told something, or was just now; see [tasks.Engine.SaidToUser].
func (h *Heard) Said() { h.Telling("", "", tasks.Sends) }

// Telling tells how far a reply has come; see [tasks.Engine.Telling].
func (h *Heard) Telling(conversation, reply string, how tasks.Delivery) {
	if engine := h.engine.Get(); engine != nil {
		engine.Telling(conversation, reply, how)
	}
}

// Delivery is how far a reply has come that was sent, by the error of that.
func Delivery(err error) tasks.Delivery {
	if err != nil {
		return tasks.Failed
	}
	return tasks.Arrived
}
