package codex

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/leftovers"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/place"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/sandbox"
)

// The commands of a conversation may run on another machine, where it has a place. A place is found before a turn,
// and left at its end. codex is told of it with each turn, by an environment of the machine, which is one for all
// conversations there. What follows from the loss of a machine is the same as with the loss of codex: the turn is
// ended, and it is looked up whether it had done anything ([cutError]).

// findPlace has a place for the next turn of c, if commands run on other machines.
func (c *conversation) findPlace(ctx context.Context, o agent.Options) (err error) {
	if c.d.cfg.Machines == nil {
		return nil
	}
	c.leavePlace("")
	c.leaveNow()
	c.place, err = c.d.cfg.Machines.Take(ctx, c.key, o.Labels)
	return err
}

// leavePlace gives the place of c back, if it has one. What has changed there is kept under a title.
func (c *conversation) leavePlace(title string) {
	if c.place != nil {
		c.place.Leave(title)
		c.place = nil
	}
}

// leaveNow leaves the place of a turn that was waited with until its end was told.
func (c *conversation) leaveNow() {
	if c.leaves != nil {
		c.leaves()
		c.leaves = nil
	}
}

// bring has the files that a message names be in a place, if that is not this machine, and returns its input as it names
// them there.
func bring(ctx context.Context, at place.Place, input []agent.Input) ([]agent.Input, error) {
	if at == nil {
		return input, nil
	}
	brought := slices.Clone(input)
	for i := range brought {
		var err error
		if brought[i].Text, err = at.Bring(ctx, brought[i].Text); err != nil {
			return nil, &place.LostError{Machine: at.On().Machine, Why: err.Error()}
		}
	}
	return brought, nil
}

// An introduction is a remote environment that a child knows.
type introduction struct {
	to   *child.Child
	what place.Environment
}

// introduce makes the machine of a place known to codex, which forgets it with its end.
func (d *Driver) introduce(ctx context.Context, at place.Place, on *child.Child) error {
	if at == nil {
		return nil
	}
	now := introduction{on, at.On()}
	d.mu.Lock()
	known := d.introduced[now.what.ID] == now
	d.mu.Unlock()
	if known {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, d.cfg.Patience)
	defer cancel()
	err := on.EnvironmentAdd(ctx, appserver.EnvironmentAddParams{ID: now.what.ID, URL: now.what.URL, Token: now.what.Token})
	if err == nil { // codex answers before it has connected, and a turn does not wait for that (seen on 0.169.0)
		err = on.EnvironmentInfo(ctx, now.what.ID)
	}
	if err != nil {
		return unconnected(on, now.what.Machine, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.introduced[now.what.ID] = now
	return nil
}

// unconnected is why codex has not reached a machine: the machine is lost to the turn, unless it is codex itself.
func unconnected(on *child.Child, machine string, err error) error {
	if on.Gone() {
		return err
	}
	return &place.LostError{Machine: machine, Why: "codex does not reach it: " + err.Error()}
}

// stands says why a job cannot have its folder. That of a machine is not looked at from here.
func (d *Driver) stands(c *conversation, o agent.Options) error {
	if c.place != nil {
		return nil
	}
	return d.cfg.Child.User.Do(func() error { return wish(sandbox.Stands(o.Cwd)) })
}

// environments say that the commands of c run in its place, from a folder on.
func (c *conversation) environments(folder string) []appserver.TurnEnvironment {
	if c.place == nil {
		return nil
	}
	dir := c.place.Dir()
	return []appserver.TurnEnvironment{{ID: c.place.On().ID, Cwd: cmp.Or(folder, dir), Roots: []string{dir}}}
}

// takeTo has a turn work in the place of c, also where its thread has worked elsewhere.
func (c *conversation) takeTo(o agent.Options, params *appserver.TurnStartParams) {
	if c.place == nil {
		return
	}
	folder := ""
	if o.Cwd != "" {
		folder = c.place.Within(o.Cwd)
	}
	params.Environments = c.environments(folder)
	params.Cwd, params.WorkspaceRoots = "", nil // of this machine
	if told := strings.TrimSpace(c.place.News() + " " + c.place.Hint()); told != "" {
		addContext(params, "machine_notice", told)
	}
}

// watchMachine has the turn be ended when its machine is lost. What is returned stops that, and leaves the place.
func (t *turn) watchMachine() (over func(end *agent.Ended)) {
	at := t.c.place
	if at == nil {
		return func(*agent.Ended) {}
	}
	lost := at.Lost()
	stop := context.AfterFunc(lost, func() { t.attention.raise(context.Cause(lost)) })
	return func(end *agent.Ended) {
		stop()
		title := "turn " + t.Job // and nothing of its message, which may have what is in no file
		if !t.shows(end, at) {
			t.c.leavePlace(title)
			return
		}
		t.c.place, t.c.leaves = nil, func() { at.Leave(title) }
	}
}

// shows has the observer of the turn read its files at its end, where only its machine has them. The place is left after that:
// a machine that drains waits for the turns there.
func (t *turn) shows(end *agent.Ended, at place.Place) bool {
	read := at.Read()
	if end == nil || end.Outcome != agent.Completed || read == nil {
		return false
	}
	end.Folder = &agent.Folder{Dir: at.Dir(), Cwd: at.Dir(), Open: read}
	if t.Options.Cwd != "" {
		end.Folder.Cwd = at.Within(t.Options.Cwd)
	}
	return true
}

// lostMachine is the loss of its machine for which the turn was ended, or nil.
func (t *turn) lostMachine() *place.LostError {
	lost, _ := errors.AsType[*place.LostError](t.stopping)
	return lost
}

// isSevered reports whether the turn has lost its machine in the middle of a tool, or a tool with it: codex may complete it
// all the same, with what the model says to that.
func (t *turn) isSevered() bool { return (t.severed || t.broken) && t.lostMachine() != nil }

// lostFailure is what the sender of a turn that is severed is told.
func (t *turn) lostFailure() *agent.Failure {
	return &agent.Failure{
		Kind:    agent.FailUnreachable,
		Message: t.lostMachine().Error() + ". Look at what was done so far; the message runs again if it is sent again with metadata.retry=true",
	}
}

// askPlace waits until it is known what has become of the machine, where the turn has completed and a command of it failed
// as one does whose machine is gone: codex and the model are told of that at once, and we only then.
func (t *turn) askPlace(final appserver.Turn) {
	if final.Status != appserver.TurnCompleted || t.stopping != nil || !t.broken || t.c.place == nil {
		return
	}
	ctx, cancel := t.callContext()
	defer cancel()
	if err := t.c.place.Stands(ctx); err != nil {
		t.stopping = err
	}
}

// lostOr returns the end of the turn, or that it was cut off by the loss of its machine. One that was canceled has its
// end, which says what is not known.
func (t *turn) lostOr(end *agent.Ended) (*agent.Ended, error) {
	lost := t.lostMachine()
	switch {
	case lost == nil, end.Outcome == agent.Completed:
		return end, nil
	case t.Ctx.Err() == nil:
		t.withdraw("the machine that its commands run on is gone.")
		return nil, cutError{lost}
	case !end.Tools && errors.Is(context.Cause(t.Ctx), executor.ErrShutdown): // it goes on in the next process
		stopped := executor.Stopped(*end, executor.ErrShutdown)
		return &stopped, nil
	}
	end.Outcome, end.Failure = agent.Interrupted, &agent.Failure{Kind: agent.FailUnreachable, Message: lost.Error()}
	return end, nil
}

// endOnMachine ends what the turn has left running in its place. Where the machine does not say that nothing is left,
// the turn has lost it. Of one that has begun no tool nothing runs there.
func (t *turn) endOnMachine(ctx context.Context) {
	at := t.c.place
	if t.lostMachine() != nil || !t.HasWorked() {
		return
	}
	err := leftovers.EndOn(ctx, at, t.leaves)
	if err != nil {
		t.d.log.Warn("whether commands of an ended turn still run on a machine is not known", "machine", at.On().Machine, "turn_id", t.id, "err", err)
		t.stopping = &place.LostError{Machine: at.On().Machine, Why: "it does not say whether commands of this turn still run there (" + err.Error() + ")"}
	}
}

// endOnMachines ends what a codex that has ended has left running on other machines.
func (d *Driver) endOnMachines() {
	if d.cfg.Machines == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), d.cfg.Grace)
	defer cancel()
	d.cfg.Machines.Reset(ctx)
}
