package requests

import (
	"context"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/deliver"
)

// step does what is next for a request, and reports whether that was the last. An error has it done
// again.
func (b *Board) step(ctx context.Context, r *request, list map[string]Listed) (done bool, err error) {
	asked, err := b.cfg.Journal.Asked(ctx, r.row.Task, r.shown.Question)
	if err != nil || ctx.Err() != nil {
		return false, err
	}
	if !asked {
		return b.settle(ctx, r, list)
	}
	if r.row.Target == "" {
		return b.put(ctx, r, list)
	}
	id, ok := listed(r.row.Target)
	if !ok || list == nil { // the decision is sent, or the list was not read
		return false, nil
	}
	at, known := list[id]
	if !known {
		return b.missing(ctx, r, id, list)
	}
	r.missed = time.Time{}
	switch at.State {
	case Pending:
		return false, nil
	case Lapsed:
		return b.put(ctx, r, list)
	default:
		return b.decide(ctx, r, id, at.State == Approved)
	}
}

// missing puts a request up again that the list has no more, as where many others were put up since: a decision on
// it would not be seen. So its old buttons go first.
func (b *Board) missing(ctx context.Context, r *request, id string, list map[string]Listed) (done bool, err error) {
	if r.missed.IsZero() {
		r.missed = time.Now()
	}
	if time.Since(r.missed) < missedFor || r.row.Tries >= most {
		return false, nil
	}
	closing, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := b.cfg.Platform.Close(closing, id); err != nil && deliver.VerdictOn(err) != deliver.Refused {
		return false, err
	}
	return b.put(ctx, r, list)
}

// missedFor is how long the list has a request no more that is put up again.
const missedFor = time.Minute

// decide answers the question. Whatever becomes of the answer, the request has done its part.
func (b *Board) decide(ctx context.Context, r *request, id string, accept bool) (done bool, err error) {
	if err := b.cfg.Decide(ctx, r.row.Task, r.shown.Question, "request-"+id, accept); err != nil {
		return false, err
	}
	b.log.Info("the user has decided by a button", "task_id", r.row.Task, "accept", accept)
	return true, b.cfg.Journal.FinishDelivery(ctx, r.row.ID)
}

// put shows a request to the user.
func (b *Board) put(ctx context.Context, r *request, list map[string]Listed) (done bool, err error) {
	if r.unsure {
		if list == nil { // it is read when it may be there
			return false, nil
		}
		if at, ok := newest(list, r.shown.Question); ok && at.State != Lapsed {
			return false, b.aim(ctx, r, approvals+at.ID)
		}
	}
	if r.row.Tries >= most {
		return false, nil // words do
	}
	r.unsure = true
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	id, isListed, err := b.cfg.Platform.Put(ctx, r.shown)
	switch {
	case deliver.VerdictOn(err) == deliver.Refused:
		b.log.Info("the platform takes no request to the user; the question is asked in words", "task_id", r.row.Task, "err", err)
		return true, b.cfg.Journal.FinishDelivery(ctx, r.row.ID)
	case err != nil:
		return false, err
	}
	target := Sent(id)
	if isListed {
		target = approvals + id
	}
	b.newest = time.Now()
	if b.unread == 0 {
		b.readAt = b.newest.Add(soon)
	}
	return false, b.aim(ctx, r, target)
}

// newest finds the newest request for a question.
func newest(list map[string]Listed, question string) (found Listed, ok bool) {
	for _, at := range list {
		if at.Question == question && (!ok || at.place < found.place) {
			found, ok = at, true
		}
	}
	return found, ok
}

// aim notes where a request is up.
func (b *Board) aim(ctx context.Context, r *request, target string) error {
	if err := b.cfg.Journal.AimDelivery(context.WithoutCancel(ctx), r.row.ID, target); err != nil {
		return err
	}
	_, isListed := listed(target)
	b.log.Info("the user has buttons for what codex asks", "task_id", r.row.Task, "listed", isListed)
	r.row.Target, r.unsure, r.missed = target, false, time.Time{}
	r.row.Tries++
	return nil
}

// settle closes the request of a question that needs no decision any more.
func (b *Board) settle(ctx context.Context, r *request, list map[string]Listed) (done bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	id, isListed := listed(r.row.Target)
	switch {
	case r.row.Target == "" && r.unsure && list == nil && time.Since(r.row.Created) < hopeless:
		return false, nil
	case r.row.Target == "" && r.unsure:
		at, ok := newest(list, r.shown.Question)
		id, isListed = at.ID, ok
	case !isListed && r.row.Target != "": // what comes of it is answered for a week
		return true, b.cfg.Journal.GiveUpDelivery(ctx, r.row.ID)
	}
	if isListed && list[id].State == Pending {
		if err := b.cfg.Platform.Close(ctx, id); err != nil && deliver.VerdictOn(err) != deliver.Refused && time.Since(r.row.Created) < hopeless {
			return false, err
		}
	}
	return true, b.cfg.Journal.FinishDelivery(ctx, r.row.ID)
}

// hopeless is how long a request is tried to be closed.
const hopeless = 24 * time.Hour
