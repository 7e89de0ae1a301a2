package tasks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/slowlock"
)

// An admission makes the order of the journal that of the runner's queues, for each conversation by
// itself: a message passes from the look for its key until it is queued, and others of its conversation,
// or of its key, wait. Those of other conversations pass at the same time, so that the journal commits
// them together. What concerns more than one conversation passes alone. Once it is closed nothing new is
// accepted; what is known still passes, to be answered. The zero value is ready.
type admission struct {
	passing slowlock.Shared // with others, or alone
	closed  atomic.Bool     // set alone: what passes sees one value all the while

	mu    sync.Mutex // guards lanes
	lanes map[string]*lane
}

// A lane is what messages pass that share something, one after the other.
type lane struct {
	turn  slowlock.Lock // of one message
	users int           // that hold it or wait; guarded by admission.mu
}

// errAlone says that a message must pass alone.
var errAlone = errors.New("the message passes alone")

// pass waits until a message may pass: all that pass have their lanes in the same order. What it returns
// is called when the message is queued.
func (a *admission) pass(names ...string) (passed func()) {
	a.passing.RLock()
	for _, name := range names {
		a.enter(name).turn.Lock()
	}
	return func() {
		for _, name := range names {
			a.leave(name)
		}
		a.passing.RUnlock()
	}
}

// alone waits until nothing else passes, and keeps everything else waiting until what it returns is
// called.
func (a *admission) alone() (passed func()) {
	a.passing.Lock()
	return a.passing.Unlock
}

// close refuses new messages once those that pass have passed.
func (a *admission) close() {
	defer a.alone()()
	a.closed.Store(true)
}

func (a *admission) enter(name string) *lane {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.lanes[name]
	if l == nil {
		if a.lanes == nil {
			a.lanes = map[string]*lane{}
		}
		l = &lane{}
		a.lanes[name] = l
	}
	l.users++
	return l
}

func (a *admission) leave(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.lanes[name]
	l.turn.Unlock()
	if l.users--; l.users == 0 {
		delete(a.lanes, name)
	}
}

// pass waits until a message may pass. A task that it names may just be accepted, which is waited for.
func (e *Engine) pass(ctx context.Context, in *incoming) (passed func()) {
	k := in.key
	names := []string{fmt.Sprintf("message %q %q %q %q", k.Caller, k.Context, k.Task, k.Message)}
	conversation := e.conversation(in)
	id := in.named()
	if in.press != nil {
		id = a2a.TaskID(in.press.task)
	}
	if id != "" {
		if v, err := e.underWay(ctx, id); err == nil && v.of != nil {
			conversation = v.of.conversation
		}
	}
	if conversation != "" { // else it begins one of its own
		names = append(names, e.lane(conversation))
	}
	return e.admit.pass(names...)
}

// lane names that of a conversation. One that went aside has that of the one that it went aside of.
func (e *Engine) lane(conversation string) string {
	conversation = strings.TrimPrefix(conversation, commandPrefix)
	return "conversation " + cmp.Or(e.asideFrom(conversation), conversation)
}
