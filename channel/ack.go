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
	cfg   Config
	space *space
	news  *pulse
}

// run acknowledges until ctx ends, first what an earlier process has left. A platform that does not want
// to know is asked again some time later: it may be another one by then.
func (a *acker) run(ctx context.Context) {
	log := a.cfg.Logger.With("workspace", a.space.ID)
	for {
		news := a.news.wait()
		if a.space.conn.isUp() {
			switch err := a.ack(ctx); {
			case err == nil || ctx.Err() != nil:
			case errors.Is(err, platform.ErrUnsupported):
				log.Debug("this platform wants no acknowledgements")
				if !sleep.For(ctx, unwanted) {
					return
				}
				continue
			default:
				log.Warn("rows of the inbox could not be acknowledged; that does no harm", "err", err)
			}
		}
		select {
		case <-news:
		case <-ctx.Done():
			return
		}
	}
}

func (a *acker) ack(ctx context.Context) error {
	st := a.cfg.Store
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
	return st.MarkInboxAcked(ctx, a.space.ID, seq)
}
