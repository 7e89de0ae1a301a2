package codex

import (
	"context"
	"maps"
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/commands"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/insist"
)

// firstStart ends what a process before this one has left running, before
// anything is made of the turns that it was cut off in.
func (d *Driver) firstStart(ctx context.Context) {
	var threads []string
	err := insist.Until(ctx, d.log, "list the threads", func(ctx context.Context) (err error) {
		threads, err = d.cfg.Journal.Threads(ctx)
		return err
	}, func() {})
	if err != nil { // we are closing
		return
	}
	d.mu.Lock()
	for _, id := range threads {
		d.threads[id] = true
	}
	d.mu.Unlock()
	if len(threads) > 0 {
		d.endAllLeftovers()
	}
}

// childEnded cleans up after a child, before the next one starts.
func (d *Driver) childEnded(dead *child.Child) {
	d.dropDead(dead)
	d.guard.Forget()
	d.desk.ForgetAgents()
	d.endAllLeftovers()
	d.endOnMachines()
}

// endAllLeftovers kills what is left of the commands of all our threads. It is
// for the time after a child's end, when nothing is left that would end them.
func (d *Driver) endAllLeftovers() {
	ctx, cancel := context.WithTimeout(context.Background(), d.cfg.Grace)
	defer cancel()
	d.ender.KillCommands(ctx, func(c commands.Command) bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.threads[c.ThreadID] || d.threads[c.SessionID]
	})
}

// dropDead lets go of what conversations hold of a child that has ended.
func (d *Driver) dropDead(dead *child.Child) {
	d.mu.Lock()
	all := slices.Collect(maps.Values(d.conversations))
	d.mu.Unlock()
	for _, c := range all {
		if !c.lock.TryLock() {
			continue // it is at work, and finds out by itself
		}
		if d.isLoaded(c, dead) {
			d.unloaded(c)
		}
		c.lock.Unlock()
	}
}
