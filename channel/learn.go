package channel

import (
	"context"
	"errors"
	"net/http"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// learnTries are made while the platform fails to say what was acknowledged, and passingTries
// where it is silent, or what it says passes. An inbox that is never read is worse than an answer
// that comes twice.
const (
	learnTries   = 4
	passingTries = 16
)

const noteAcked = "it was acknowledged before, by a channel with another state"

// learn asks, once for each process, how far the platform was told that the inbox is
// worked off. Our own state does not have it where it is new, or was restored: what an
// earlier channel has answered would be answered again. Nothing is accepted before.
func (p *poller) learn(ctx context.Context) error {
	if p.learnt {
		return nil
	}
	seq, err := p.space.Platform.Acknowledged(platform.Once(ctx))
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return err
	case errors.Is(err, platform.ErrUnsupported):
		p.log.Debug("this platform keeps no acknowledgements")
	case errors.Is(err, platform.ErrNotUnderstood), p.unable(err):
		p.log.Warn("the platform does not say what was acknowledged; what an earlier channel with another state has answered may be answered again", "err", err)
	default:
		return err
	}
	p.acked, p.learnt = seq, true
	return nil
}

// unable counts the times that the platform could not say, though its inbox can be read, and
// reports whether they are enough.
func (p *poller) unable(err error) bool {
	p.tries++
	refused, _ := errors.AsType[*platform.Error](err)
	switch {
	case refused == nil: // it did not answer
		return p.tries >= passingTries
	case refused.Status == http.StatusUnauthorized, refused.Status == http.StatusRequestTimeout, refused.Status == http.StatusTooManyRequests:
		return p.tries >= passingTries
	}
	return refused.Permanent() || p.tries >= learnTries // also pages and redirects of what stands in front of it
}

// caughtUp is called at the end of the inbox: what comes from now on has been acknowledged
// by no earlier channel, whatever numbers its rows have.
func (p *poller) caughtUp() { p.acked, p.learnt = 0, true }

// worked drains a row that was acknowledged. One that tells of a file is looked at all the
// same, because a later message may name the file.
func (p *poller) worked(row store.InboxRow) store.InboxRow {
	if row.State == store.InboxAccepted && row.Kind != kindUpload && row.Seq > 0 && row.Seq <= p.acked {
		p.log.Info("a message was acknowledged before, and is not answered again", "activity", row.Activity, "acknowledged", p.acked)
		row, _ = p.space.names.drain(row, noteAcked)
	}
	return row
}
