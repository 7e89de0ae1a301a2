package fleet

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// drainTime bounds the wait for the word of a machine that it drains.
const drainTime = 3 * time.Second

// A NoMachineError says that there is no machine of a name, and which there are.
type NoMachineError struct {
	Name  string
	There []string
}

func (e *NoMachineError) Error() string {
	if len(e.There) == 0 {
		return fmt.Sprintf("there is no machine %q, nor any other now", e.Name)
	}
	return fmt.Sprintf("there is no machine %q: there are %s", e.Name, strings.Join(e.There, ", "))
}

// An AwayError says that a machine cannot be told anything now.
type AwayError struct{ Shown }

func (e *AwayError) Error() string { return fmt.Sprintf("machine %s %s", e.Name, e.Words()) }

// Drain has a machine take no new turns, or take them again, by its name or its address. It returns when no turn is
// placed there any more, or turns are again. What runs there goes on.
func (f *Fleet) Drain(ctx context.Context, name string, drain bool) error {
	m, err := f.reached(name)
	if err != nil {
		return err
	}
	name = m.shown().Name
	if err := m.machine.Drain(ctx, drain); err != nil {
		return fmt.Errorf("machine %s was not told: %w", name, err)
	}
	f.log.Info("a machine was told by a user whether it drains", "machine", name, "drains", drain)
	ctx, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	for {
		f.mu.Lock()
		news := f.news
		f.mu.Unlock()
		if f.drains(name) == drain {
			return nil
		}
		select {
		case <-news:
		case <-m.ctx.Done():
			return nil
		case <-ctx.Done():
			return fmt.Errorf("machine %s was told, and has not said since that it is so: %w", name, context.Cause(ctx))
		}
	}
}

// reached is the machine of a name, or of an address, that is up.
func (f *Fleet) reached(name string) (*member, error) {
	all, _ := f.Overview()
	var away *AwayError
	none := &NoMachineError{Name: name}
	for _, s := range all {
		none.There = append(none.There, s.Name)
		if s.Name == name || s.Address == name {
			away = &AwayError{s}
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.members {
		if m.is(name) || m.address == name && m.standing() == Up {
			return m, nil
		}
	}
	if away != nil {
		return nil, away
	}
	return nil, none
}

// drains reports whether no turn is placed on a machine since it drains.
func (f *Fleet) drains(name string) bool {
	for _, m := range f.placer.Machines() {
		if m.Name == name {
			return m.Draining
		}
	}
	return false
}
