package codex

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/place"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/told"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// A conversation is the thread that carries a context, as far as this process knows it. What two
// locks guard changes in two places only, loaded and unloaded: loadedIn names the child
// exactly while events listens to it.
type conversation struct {
	d   *Driver
	key string

	// Guarded by Driver.mu.
	users    int // that have pinned it
	loadedIn *child.Child
	known    bool // it has or had a thread
	lastUsed time.Time
	peer     bool // its last job is another agent's
	shown    shownThread
	unbidden []string // turns on its thread that are not ours, and were not ended yet

	spent atomic.Pointer[agent.Usage] // of its thread in all; nil if codex has not said so

	// strange tells of words in its thread that no message here has brought. blocked says that the thread has
	// something that the provider refuses to read, and that could not be taken out yet. Both are set under the
	// turn lock, and no journal has them.
	strange told.Strangeness
	blocked atomic.Bool

	leaves func() // leaves the place of the turn whose end is being told; it is of the goroutine that serves the conversation

	// lock is the turn lock. It is held while a job is served, and while the thread is unloaded.
	// Functions that take a conversation are called under it, unless they say otherwise. It guards
	// the fields below.
	lock       sync.Mutex
	recalled   bool         // the journal was asked for its thread
	on         *child.Child // that its thread was prepared on last
	place      place.Place  // of the turn that is about to begin, or runs; nil is this machine
	threadID   string
	rollout    string         // the thread's file, as codex names it; empty before it was loaded
	resumable  bool           // a turn was acknowledged, so the thread may be on disk
	history    bool           // turns of it have ended, so that its loss is one
	tools      string         // the set of tools that the thread was started with
	fresh      told.Freshness // of the next turn, which tells the model
	unread     told.Freshness // that turns have had with them since the model has answered
	events     *appserver.Subscription
	heard      told.Heard
	own        settings        // what its thread was loaded with
	folder     string          // where the last turn has worked; empty if that is not known
	spared     string          // the file of instructions for whose size its thread was loaded so that codex reads none
	strayed    bool            // the thread's settings may be those that one of its turns asked for
	named      bool            // a turn has named another model than the thread has, and the model has not answered since
	read       string          // the last turn that the model is known to have begun to answer
	ran        string          // the model of the thread's last turn; empty if that is not known
	nearlyFull bool            // its history has nine tenths of what its model reads, as far as is known
	queue      queueMark       // when it had nothing for its thread
	granted    grant           // what its thread is loaded with; empty for what turns may by themselves
	earlier    map[string]bool // ids of the commands of earlier turns, which a cancel must spare
}

// letGoLocked forgets a conversation of which nothing is worth keeping: it is not pinned, and has
// no loaded thread and nothing that the journal does not know.
func (d *Driver) letGoLocked(c *conversation) {
	_, unwritten := d.cfg.Journal.(noJournal)
	if c.users == 0 && c.loadedIn == nil && (!unwritten || !c.known) && !c.strange.Any() && !c.blocked.Load() && d.conversations[c.key] == c {
		delete(d.conversations, c.key)
	}
}

// begun describes a turn of the conversation.
func (c *conversation) begun(turn string) executor.Begun {
	b := executor.Begun{Thread: c.threadID, Turn: turn, Model: c.own.model, Cwd: c.own.cwd}
	if c.place != nil {
		b.Machine, b.Cwd = c.place.On().Machine, c.place.Dir()
		if news := c.place.News(); news != "" {
			b.Notices = append(b.Notices, news)
		}
	}
	if c.spared != "" {
		b.Notices = append(b.Notices, fmt.Sprintf(sparedReading, brief.Named(c.spared)))
	}
	return b
}

// sparedReading is what the sender of a message reads whose turn is without AGENTS.md.
const sparedReading = "Codex reads no AGENTS.md in this conversation: %s was larger than 1 MiB when it was loaded, or did not say how large it is, and codex would have had all of that in memory. " +
	"Remove the file, or put a smaller one there; a conversation that begins then reads what there is."

// foreign reports whether the history of c was begun by another program.
func (c *conversation) foreign() bool { return c.tools == ForeignTools || c.tools == forkedTools }

// shownThread is what is shown of the thread of a conversation to those who do not hold
// its lock.
type shownThread struct{ thread, model string }

// lessUsedLocked reports whether c is to be unloaded before another one.
func (c *conversation) lessUsedLocked(other *conversation) bool {
	if busy, others := c.users > 0, other.users > 0; busy != others {
		return others
	}
	return c.lastUsed.Before(other.lastUsed)
}
