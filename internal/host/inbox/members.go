package inbox

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/presence"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/host"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// beat is how often the platform hears of a workspace that polls.
const beat = 20 * time.Second

// A member is a space that is kept known to its platform.
type member struct {
	*space
	presence *presence.Presence
}

type members []member

// join makes what keeps them known.
func join(life *host.Life, t *host.Turns, all spaces) members {
	out := make(members, 0, len(all))
	for _, m := range all {
		p := presence.New(presence.Config{
			Platform: m.client, DeliveryMode: "poll", Every: beat, Card: m.card,
			Metadata: platform.RuntimeMetadata{IdleTimeoutSeconds: host.Silence(t.Settings)}, Tools: m.door.Loaded,
			Wedged: t.Wedged(nil),
			Redact: t.Redact.String, Logger: t.Logger.With("workspace", m.id),
		})
		m.joined.Set(p)
		t.Checks.OnMade(p.Changed)
		life.GoesOn(m.recorder.Run)
		out = append(out, member{m, p})
	}
	return out
}

// registered reports whether the platforms know the workspaces, and how that stands in words.
func (all members) registered() (bool, string) {
	every, words := true, make([]string, 0, len(all))
	for _, m := range all {
		ok, how := m.presence.Ready()
		every, words = every && ok, append(words, m.id+": "+how)
	}
	return every, strings.Join(words, "; ")
}

// present keeps the workspaces known to their platforms; leave is called for one that was deleted. When all of them have
// been there is nothing left to do.
func (all members) present(ctx context.Context, leave func(workspace string)) error {
	var deleted atomic.Int32
	var wg sync.WaitGroup
	for _, m := range all {
		wg.Go(func() {
			if errors.Is(m.presence.Run(ctx), presence.ErrDeleted) {
				deleted.Add(1)
				leave(m.id)
			}
		})
	}
	wg.Wait()
	if int(deleted.Load()) == len(all) {
		return presence.ErrDeleted
	}
	return nil
}
