package channel

import (
	"context"
	"errors"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// unwanted is how long nothing is acknowledged to a platform that does not know of that.
const unwanted = 10 * time.Minute

// An acker tells the platform how far the inbox is worked off: up to which row every one
// is finished. It is a courtesy, that lets the platform forget them.
type acker struct {
	channel *Channel
	space   *space
	wake    chan struct{} // has room for one
}

func newAcker(c *Channel, s *space) *acker {
	return &acker{channel: c, space: s, wake: make(chan struct{}, 1)}
}

func (a *acker) poke() { poke(a.wake) }

// run acknowledges until ctx ends. A platform that does not want to know is asked again some time later:
// it may be another one by then.
func (a *acker) run(ctx context.Context) {
	a.poke() // what an earlier process has left
	for {
		select {
		case <-a.wake:
		case <-ctx.Done():
			return
		}
		if !a.space.line.isUp() {
			continue
		}
		switch err := a.ack(ctx); {
		case err == nil || ctx.Err() != nil:
		case errors.Is(err, platform.ErrUnsupported):
			a.channel.log.Debug("this platform wants no acknowledgements", "workspace", a.space.ID)
			if !sleep.For(ctx, unwanted) {
				return
			}
			a.poke()
		default:
			a.channel.log.Warn("rows of the inbox could not be acknowledged; that does no harm", "workspace", a.space.ID, "err", err)
		}
	}
}

func (a *acker) ack(ctx context.Context) error {
	st := a.channel.cfg.Store
	cursor, err := st.InboxCursor(ctx, a.space.ID)
	if err != nil {
		return err
	}
	seq, err := st.InboxPrefix(ctx, a.space.ID)
	if err != nil || seq <= cursor.Acked {
		return err
	}
	if err := a.space.Platform.AckActivity(platform.Once(ctx), seq); err != nil {
		return err
	}
	return st.AckedInbox(ctx, a.space.ID, seq)
}
