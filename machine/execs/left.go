package execs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/commands"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

const (
	// killTime bounds the killing of what was left, before it is said that it could not be.
	killTime = 10 * time.Second
	// killAgain is between two looks. A process may start another while it is killed.
	killAgain = 10 * time.Millisecond
	// emptyLooks is how many looks in a row have to find nothing: one that starts another and ends is seen
	// by neither half of a single look.
	emptyLooks = 2
)

// Sweep ends what an earlier life of this machine has left running, of all runtimes.
func (s *Servers) Sweep(ctx context.Context) error {
	return s.kill(ctx, func(mark string) bool { return strings.HasPrefix(mark, s.cfg.Machine+"/") })
}

// killAll ends all that runs for a runtime.
func (s *Servers) killAll(ctx context.Context, runtime string) error {
	want := s.Mark(runtime)
	return s.kill(ctx, func(mark string) bool { return mark == want })
}

// kill kills what has a mark that matches until nothing does.
func (s *Servers) kill(ctx context.Context, match func(mark string) bool) error {
	ctx, cancel := context.WithTimeout(ctx, killTime)
	defer cancel()
	seen := map[int]bool{}
	defer func() { s.cfg.Ended(len(seen)) }()
	for empty := 0; empty < emptyLooks; {
		found, err := s.killOnce(ctx, match)
		for _, c := range found {
			seen[c.Pid] = true
		}
		if empty++; len(found) > 0 {
			empty = 0
		}
		if empty < emptyLooks && !sleep.For(ctx, killAgain) {
			return errors.Join(fmt.Errorf("%d processes still run after %v", len(found), killTime), err)
		}
	}
	return nil
}

func (s *Servers) killOnce(ctx context.Context, match func(mark string) bool) (found []commands.Command, err error) {
	err = s.cfg.User.Do(func() (failed error) {
		found = commands.Marked(ctx, match)
		for _, c := range found {
			failed = errors.Join(failed, c.Kill())
		}
		return failed
	})
	return found, err
}

// Commands are the tool calls of codex that run for a runtime.
func (s *Servers) Commands(ctx context.Context, runtime string) (found []commands.Command) {
	mark := s.Mark(runtime)
	_ = s.cfg.User.Do(func() error {
		found = commands.Find(ctx, func(c commands.Command) bool { return c.Mark == mark })
		return nil
	})
	return found
}

// EndCommands ends those of commands that still are what they were and belong to a runtime, and waits until they are gone
// or ctx ends. It returns what is left.
func (s *Servers) EndCommands(ctx context.Context, runtime string, which []commands.Command) (left []commands.Command, err error) {
	wanted := map[commands.Command]bool{}
	for _, c := range which {
		c.Mark = s.Mark(runtime)
		wanted[c] = true
	}
	killed := map[commands.Command]bool{}
	defer func() { s.cfg.Ended(len(killed)) }()
	for {
		left, err = s.endOnce(wanted)
		for _, c := range left {
			killed[c] = true
		}
		if len(left) == 0 || !sleep.For(ctx, killAgain) {
			return left, err
		}
	}
}

// endOnce kills what is wanted and still runs.
func (s *Servers) endOnce(wanted map[commands.Command]bool) (left []commands.Command, err error) {
	err = s.cfg.User.Do(func() (failed error) {
		left = commands.Find(context.Background(), func(c commands.Command) bool { return wanted[c] })
		for _, c := range left {
			failed = errors.Join(failed, c.Kill())
		}
		return failed
	})
	return left, err
}
