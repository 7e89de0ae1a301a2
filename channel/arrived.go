package channel

import (
	"context"
	"errors"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// arrived reports whether a note to the user has arrived of which that is not known: the
// platform keeps what it was told in its log. Replies of the same text that are known to
// have arrived do not count. Where the log cannot tell, it is sent again: twice is better
// than never. A platform that does not answer at all is asked again later.
func (r *replies) arrived(ctx context.Context, one *reply) (bool, error) {
	log := r.cfg.Logger.With("workspace", one.Workspace, "reply", one.ID)
	there, err := platform.Told(ctx, one.space.Platform, one.says.Text, one.Tried, func(since time.Time) (int, error) {
		return r.cfg.Store.CountSentReplies(ctx, one.Workspace, one.Digest, since)
	})
	switch {
	case err == nil:
		log.Info("whether a reply has arrived was not known; the platform's log was asked", "arrived", there)
	case errors.Is(err, platform.ErrCannotTell):
		log.Warn("the platform's log cannot tell whether a reply has arrived; it is sent again", "err", err)
		err = nil
	default:
		log.Warn("whether a reply has arrived is not known yet; the platform's log is asked again", "tries", one.Tries+1, "err", err)
	}
	return there, err
}
