package desk

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// What lies on a desk at once, of users and of other agents each. What is beyond that waits in the store.
const (
	mostMessages = 200
	mostBytes    = 32 << 20
)

// A Journal is what the store knows of messages.
type Journal interface {
	InboxRowOf(ctx context.Context, workspace, activity string) (store.InboxRow, error)
	InboxGivenRows(ctx context.Context, workspace string, limit int) ([]int64, error)
	NoteInbox(ctx context.Context, notes map[int64]string, atOnce bool) error
}

// Config describes a desk. Journal and Workspaces must be set.
type Config struct {
	Journal    Journal
	Workspaces []string
	Logger     *slog.Logger // nil discards
}

// A Desk is where messages lie. Create it with [New]. Its methods may be called concurrently.
type Desk struct {
	cfg   Config
	began time.Time

	noting sync.Mutex // held while something is noted, so that nothing is noted over

	mu      sync.Mutex       // guards the fields below
	items   []*item          // in the order of acceptance
	missing map[int64]bool   // rows that lay on the desk of an earlier process, and are not back yet
	news    chan struct{}    // closed, and made anew, when something changes
	held    map[bool]holding // by whether a peer has sent it
	turns   map[string]int64 // by sender: when an agent's last message went
	gone    int64            // how many of theirs have
	more    bool             // there was no room for a message, and nothing has gone since
	left    map[string]bool  // the workspaces that are gone
	closed  error            // why nothing more comes
	ended   chan struct{}    // closed when that is set
}

type holding struct{ messages, bytes int }

// An item is a message that lies there.
type item struct {
	channel.Message
	task    string
	shown   bool
	verdict chan channel.Answer // what is to become of it; has room for one
	settled chan struct{}       // closed when that is in the store
	leaving bool                // it has a verdict
}

// New returns a desk that knows what an earlier one has left in the store.
func New(ctx context.Context, cfg Config) (*Desk, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	d := &Desk{cfg: cfg, began: time.Now(), missing: map[int64]bool{}, news: make(chan struct{}), held: map[bool]holding{}, turns: map[string]int64{}, left: map[string]bool{}, ended: make(chan struct{})}
	for _, workspace := range cfg.Workspaces {
		rows, err := cfg.Journal.InboxGivenRows(ctx, workspace, mostMessages)
		if err != nil {
			return nil, err
		}
		for _, n := range rows {
			d.missing[n] = true
		}
	}
	return d, nil
}

// ErrClosed says that the desk is not kept any more.
var ErrClosed = errors.New("the inbox is not kept here any more")

// Close ends all waits. The channel has ended by then.
func (d *Desk) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed != nil {
		return
	}
	d.closed = ErrClosed
	close(d.ended)
	d.changed()
}

// Leave has no message of a workspace be shown any more, because that is gone.
func (d *Desk) Leave(workspace string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.left[workspace] = true
	d.changed()
}

// changed wakes all who wait. The caller holds the mutex.
func (d *Desk) changed() {
	close(d.news)
	d.news = make(chan struct{})
}

// Prefix is how the tasks of desks are called: none of codex's is.
const Prefix = "desk "

// Has reports whether a task is a desk's. It is for [channel.Config.Has]: a desk's says nothing after its answer, and what
// codex's may still say is for the channel that has codex.
func Has(task string) bool { return strings.HasPrefix(task, Prefix) }

// Give implements [channel.Engine].
func (d *Desk) Give(_ context.Context, m channel.Message) (task string, err error) {
	task = Prefix + m.Workspace + " " + m.ID
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.find(task) != nil {
		return task, nil
	}
	of := d.held[m.Peer != ""]
	if of.messages >= mostMessages || of.messages > 0 && of.bytes+sizeOf(m) > mostBytes {
		d.more = true
		return "", channel.ErrNotNow
	}
	of.messages, of.bytes = of.messages+1, of.bytes+sizeOf(m)
	d.held[m.Peer != ""] = of
	it := &item{Message: m, task: task, verdict: make(chan channel.Answer, 1), settled: make(chan struct{})}
	at, _ := slices.BinarySearchFunc(d.items, m.N, func(it *item, n int64) int { return cmp.Compare(it.N, n) })
	d.items = slices.Insert(d.items, at, it)
	delete(d.missing, m.N)
	d.changed()
	return task, nil
}

func sizeOf(m channel.Message) int {
	n := len(m.Text)
	for _, f := range m.Files {
		n += len(f.Bytes)
	}
	return n
}

// find returns the item of a task; nil if there is none. The caller holds the mutex.
func (d *Desk) find(task string) *item {
	at := slices.IndexFunc(d.items, func(it *item) bool { return it.task == task })
	if at < 0 {
		return nil
	}
	return d.items[at]
}

// Follow implements [channel.Engine]: it waits for what is to become of a message, and has that kept.
func (d *Desk) Follow(ctx context.Context, task string, say func(channel.Answer) error) error {
	d.mu.Lock()
	it := d.find(task)
	d.mu.Unlock()
	if it == nil {
		return channel.ErrGone
	}
	select {
	case a := <-it.verdict:
		if err := say(a); err != nil {
			return err
		}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	d.remove(it)
	return nil
}

func (d *Desk) remove(it *item) {
	d.mu.Lock()
	defer d.mu.Unlock()
	of := d.held[it.Peer != ""]
	of.messages, of.bytes = of.messages-1, of.bytes-sizeOf(it.Message)
	d.held[it.Peer != ""], d.more = of, false
	d.hadTurn(it)
	d.items = slices.DeleteFunc(d.items, func(other *item) bool { return other == it })
	close(it.settled)
	d.changed()
}

// Over implements [channel.Engine].
func (d *Desk) Over(_ context.Context, task string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	it := d.find(task)
	return it == nil || it.leaving
}
