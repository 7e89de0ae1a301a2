package channel

import (
	"context"
	"errors"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// there reports whether a note to the user has arrived of which that is not known: the
// platform keeps what it was told in its log. Replies of the same text that are known to
// have arrived do not count. Where the log cannot tell, it is sent again: twice is better
// than never. A platform that does not answer at all is asked again later.
func (s *sender) there(ctx context.Context, space *space, r store.InboxReply, says said) (bool, error) {
	log := s.channel.log.With("workspace", r.Workspace, "reply", r.ID)
	arrived, err := platform.Told(ctx, space.Platform, says.Text, r.Tried, func(since time.Time) (int, error) {
		return s.channel.cfg.Store.SentSince(ctx, space.ID, r.Digest, since)
	})
	switch {
	case err == nil:
		log.Info("whether a reply has arrived was not known; the platform's log was asked", "arrived", arrived)
	case errors.Is(err, platform.ErrCannotTell):
		log.Warn("the platform's log cannot tell whether a reply has arrived; it is sent again", "err", err)
		err = nil
	default:
		log.Warn("whether a reply has arrived is not known yet; the platform's log is asked again", "tries", r.Tries+1, "err", err)
	}
	return arrived, err
}
