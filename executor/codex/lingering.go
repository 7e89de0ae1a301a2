package codex

import (
	"context"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// codex keeps a thread loaded for a minute after nobody follows it any more (seen on 0.169.0), with
// two open files and some MiB. So many conversations one after the other would be as many threads
// that are loaded; beyond a number they are unloaded at once, which writes to the disk.
const lingersFor = 70 * time.Second

// sides are the threads that linger: conversations of other agents are counted apart, so that many of
// them unload none of the user's, with what its subagents have left running.
type sides struct{ peers, others lately }

func (s *sides) of(peer bool) *lately {
	if peer {
		return &s.peers
	}
	return &s.others
}

// lately knows until when threads may linger. One that is loaded again meanwhile counts on.
type lately struct {
	mu    sync.Mutex
	until []time.Time // the oldest first
}

// crowded reports whether no more threads may linger.
func (l *lately) crowded(now time.Time, most int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.until) > 0 && !l.until[0].After(now) {
		l.until = l.until[1:]
	}
	return len(l.until) >= most
}

// add notes one more.
func (l *lately) add(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = append(l.until, now.Add(lingersFor))
}

// leave takes the thread of c out of the child: at once where many linger already, and no subagent
// works there, which that would end.
func (d *Driver) leave(ctx context.Context, c *conversation, on *child) error {
	d.mu.Lock()
	peer := c.peer
	d.mu.Unlock()
	lately := on.lately.of(peer)
	if lately.crowded(time.Now(), d.cfg.MaxLingering) && c.resumable && !d.agentsWork(ctx, on, c.threadID) {
		err := on.ThreadUnload(ctx, c.threadID)
		if err == nil || appserver.IsThreadGone(err) {
			return nil
		}
		d.log.Warn("a thread could not be unloaded at once", "thread_id", c.threadID, "err", err)
	}
	lately.add(time.Now())
	return on.ThreadUnsubscribe(ctx, c.threadID)
}
