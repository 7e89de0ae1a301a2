package push

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

// A world has the receivers of a test whose time is simulated: it takes the connections'
// place. Hosts answer as soon as they are told to, or never.
type world struct {
	*bench
	d *Deliverer

	mu     sync.Mutex
	slow   map[string]time.Duration // how long a host takes to answer
	flying map[string]int           // by host
	posts  map[string]int           // by host, that have begun
	tasks  int
}

const never = time.Hour

// inWorld runs a test in simulated time, with a deliverer of its own.
func inWorld(t *testing.T, f func(*world)) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{bench: newBench(t), slow: map[string]time.Duration{}, flying: map[string]int{}, posts: map[string]int{}}
		w.timeout, w.transport = defaultTimeout, w
		w.d = w.run()
		f(w)
	})
}

// RoundTrip implements [http.RoundTripper].
func (w *world) RoundTrip(req *http.Request) (*http.Response, error) {
	host := req.URL.Host
	w.begin(host, 1)
	defer w.begin(host, -1)
	w.mu.Lock()
	wait := w.slow[host]
	w.mu.Unlock()
	// A timer that is due already is run by whoever looks at it, and two who do so at once
	// in one bubble crash the race detector (golang/go#78156).
	if wait > 0 && !sleep.For(req.Context(), wait) {
		return nil, req.Context().Err()
	}
	return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody, Request: req}, nil
}

func (w *world) begin(host string, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flying[host] += n
	w.posts[host] += max(n, 0)
}

// takes says how long a host takes to answer from now on.
func (w *world) takes(host string, wait time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slow[host] = wait
}

// tells has a host be told of a new task of a sender.
func (w *world) tells(sender, host string) {
	w.t.Helper()
	w.tasks++
	id := fmt.Sprint("task-", w.tasks)
	w.taskOf(sender, id, setting("c", "https://"+host+"/hook"))
	w.tell(id, "c", "x")
}

// settle has all happen that does at this time.
func (w *world) settle() {
	w.d.Wake()
	synctest.Wait()
}

// begun is how many posts to a host have begun so far, inFlight how many run to any.
func (w *world) begun(host string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.posts[host]
}

func (w *world) inFlight() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, posts := range w.flying {
		n += posts
	}
	return n
}
