package bounds

import "sync"

// FreeBody is what each body and each answer may have beside the room: the common message is
// never refused for a large one.
const FreeBody = 64 << 10

// A Room bounds the memory of the messages that come and are not yet taken, or of the answers
// that are being written. A message that was taken is bounded by its place in the queue.
type Room struct {
	size int64

	mu   sync.Mutex // guards the field below
	left int64
}

// Left is how many bytes are free.
func (r *Room) Left() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.left
}

func newRoom(size int64) *Room { return &Room{size: size, left: size} }

func (r *Room) take(n int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left < n {
		return false
	}
	r.left -= n
	return true
}

func (r *Room) give(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left += n
}

// share is what n bytes need of the room. What outweighs it has it for itself.
func (r *Room) share(n int64) int64 { return min(max(0, n-FreeBody), r.size) }
