package tasks

import (
	"slices"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/origin"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/push"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/refusal"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/reply"
)

// Bounds of the settings of a task. All that waits can have as many, and they are on the disk
// until it has ended.
const (
	mostPushes    = 16
	mostPushBytes = 32 << 10 // as they are kept
)

// PushSender is who has the tasks of a conversation made: in a workspace each other agent is
// one, and the user, with all callers who do not say that they are an agent, another, who is
// the only one elsewhere.
func PushSender(inWorkspace bool, conversation string) push.Sender {
	name := strings.TrimPrefix(conversation, commandPrefix)
	if !inWorkspace || !origin.NamesPeer(name) {
		return push.Sender{Name: "user"}
	}
	if end := strings.IndexAny(name, "/@"); end >= 0 {
		name = name[:end]
	}
	return push.Sender{Name: name, Peer: true}
}

// takesSetting refuses one setting too many, be it for its task, or for who speaks in the
// task's conversation. One that takes the place of another is none more. The task is nil
// if it has ended: then nothing is posted for the setting.
func (e *Engine) takesSetting(t *task, known []receiver, next receiver) error {
	others := without(known, next.id)
	size := next.size
	for _, r := range others {
		size += r.size
	}
	switch {
	case len(others) >= mostPushes:
		return refusal.New(a2a.ErrInvalidParams, "the task has %d push notification settings, which is the most; delete one first", len(known))
	case size > mostPushBytes:
		return refusal.New(a2a.ErrInvalidParams, "the push notification settings of the task would take %d bytes together, and may take %d; "+
			"delete one first, or give shorter tokens and credentials", size, mostPushBytes)
	case t != nil && len(others) == len(known) && e.pushesFull(t.conversation):
		return refusal.New(a2a.ErrServerError, "too many push notifications wait for their receivers; "+
			"do without a setting and ask for the task, or send this again later")
	}
	return nil
}

// pushesFull reports whether too much waits to be posted already for who speaks in a
// conversation.
func (e *Engine) pushesFull(conversation string) bool {
	full := e.cfg.Push.Full
	if full == nil || !full(conversation) {
		return false
	}
	e.warnCrowded(conversation)
	return true
}

func (e *Engine) warnCrowded(conversation string) {
	if e.crowded.rarely(time.Minute) {
		e.log.Warn("too many push notifications wait for their receivers, or too large ones: their sender may make no more settings, "+
			"and receivers are told only of what a task asks and of its end, in few words", "sender", PushSender(e.cfg.Workspace != nil, conversation).Name)
	}
}

// reserve takes room for notifications, or reports that there is none.
func (t *state) reserve(all []store.Delivery) bool {
	reserve, size := t.engine.cfg.Push.Reserve, 0
	for _, d := range all {
		size += len(d.Body)
	}
	if reserve == nil || size == 0 || reserve(t.conversation, size) {
		return true
	}
	t.engine.warnCrowded(t.conversation)
	return false
}

// spare drops a notification that its receivers can do without, if too many wait. What a task asks, and
// its end, they are always told.
func (t *state) spare(isState bool) bool {
	state := t.status.State
	if isState && (state.Terminal() || reply.NeedsCaller(state)) || !t.engine.pushesFull(t.conversation) {
		return false
	}
	t.engine.cfg.Metrics.PushesDropped(len(t.pushes))
	return true
}

// A receiver is what a task that has not ended has in memory of a setting. Where it leads,
// and its secrets, are read when something is posted.
type receiver struct {
	id      string
	version string // [push.V0] or [push.V1]
	size    int    // of the setting, as it is kept
}

// A setting is one that a caller has sent.
type setting struct {
	push.Setting
	row store.Push
}

func (s *setting) receiver() receiver { return newReceiver(s.Setting, s.row) }

func newReceiver(s push.Setting, row store.Push) receiver {
	r := receiver{id: row.ID, version: push.V1, size: len(row.Body)}
	if s.Version == push.V0 {
		r.version = push.V0
	}
	return r
}

func without(all []receiver, id string) []receiver {
	return slices.DeleteFunc(slices.Clone(all), func(r receiver) bool { return r.id == id })
}

// pushRow is what the journal keeps of a setting that comes with a message; nil stays nil.
func (t *state) pushRow(s *setting) (*store.Push, error) {
	if s == nil {
		return nil, nil
	}
	if err := t.engine.takesSetting(t.task, t.pushes, s.receiver()); err != nil {
		return nil, err
	}
	return &s.row, nil
}

// adopt takes a setting that is committed; nil changes nothing.
func (t *state) adopt(s *setting) {
	if s != nil {
		t.pushes = append(without(t.pushes, s.row.ID), s.receiver())
	}
}
