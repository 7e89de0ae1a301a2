package codex

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
)

// probeTime is what the model gets to answer a probe, or to refuse it.
const probeTime = 60 * time.Second

// Probe implements [executor.Credential]. It finds out whether the model answers: it asks for a word, on a thread that
// leaves nothing behind, and lets go at the first sign of an answer. It returns
// why the model refuses, or nothing if it does not, or an error if that could not
// be found out. A conversation's own message is no probe: each time it is refused
// would stand in the thread's history.
func (d *Driver) Probe(ctx context.Context) (*executor.Refusal, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	on, err := d.child.Get(ctx)
	if err != nil {
		return nil, err
	}
	var session appserver.ThreadSession
	err = on.Attended(ctx, func(ctx context.Context) (err error) {
		params := withoutDocuments(d.threadOn(on))
		params.DynamicTools = nil // it asks for a word, and calls nothing
		params.Ephemeral, params.ApprovalPolicy, params.Sandbox = true, appserver.Never, appserver.ReadOnly
		session, err = on.ThreadStart(ctx, params)
		return err
	})
	if err != nil {
		return nil, on.Settled(err)
	}
	p := probing{d: d, on: on, thread: session.Thread.ID}
	p.events = on.Subscribe(p.thread)
	defer p.end()
	r, err := p.ask(ctx)
	if _, refused := errors.AsType[*appserver.RPCError](err); refused || ctx.Err() != nil && d.root.Err() == nil {
		d.log.Warn("the model could not be probed; the next turn tells", "err", err)
		return nil, nil
	}
	return r, on.Settled(err)
}

// A probing is one probe.
type probing struct {
	d      *Driver
	on     *child.Child
	thread string
	turn   string
	events *appserver.Subscription
}

func (p *probing) ask(ctx context.Context) (*executor.Refusal, error) {
	started, err := p.on.TurnStart(ctx, appserver.TurnStartParams{
		ThreadID: p.thread, Input: []appserver.UserInput{appserver.Text("Reply with the word OK and do nothing else.")},
	})
	if err != nil {
		return nil, err
	}
	p.turn = started.ID
	for {
		note, err := p.events.Next(ctx)
		if err != nil {
			return nil, err
		}
		if r, over := p.d.verdict(note); over {
			return r, nil
		}
	}
}

// verdict reports what a notification of a probe says of the model.
func (d *Driver) verdict(note appserver.Notification) (r *executor.Refusal, over bool) {
	switch note.Method {
	case appserver.NoteError:
		var n appserver.ErrorNote
		if json.Unmarshal(note.Params, &n) == nil {
			r = d.failures.Refusal(&n.Error)
		}
		return r, r != nil
	case appserver.NoteTurnCompleted:
		var n appserver.TurnNote
		if json.Unmarshal(note.Params, &n) == nil {
			r = d.failures.Refusal(n.Turn.Error)
		}
		return r, true
	case appserver.NoteItemStarted:
		var n appserver.ItemNote
		return nil, json.Unmarshal(note.Params, &n) == nil && n.Item.Type != appserver.ItemUserMessage
	}
	return nil, note.Method == appserver.NoteAgentMessageDelta
}

// end leaves the thread to be forgotten, which ends the turn, too.
func (p *probing) end() {
	defer p.events.Close()
	if p.on.Gone() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), p.d.cfg.Grace)
	defer cancel()
	if p.turn != "" {
		if err := p.on.TurnInterrupt(ctx, p.thread, p.turn); err != nil && !appserver.IsNoActiveTurn(err) {
			p.d.log.Debug("a probe could not be ended", "err", err)
		}
	}
	if err := p.on.ThreadUnsubscribe(ctx, p.thread); err != nil {
		p.d.log.Debug("the thread of a probe stays loaded", "err", err)
	}
}
