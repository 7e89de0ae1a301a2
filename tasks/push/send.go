package push

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/Molecule-AI/molecule-codex-runtime/deliver"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// Send implements [deliver.Sender]: it posts the first delivery of a lane.
func (p *posts) Send(ctx context.Context, l *lane) deliver.Outcome {
	f := &l.flight
	out := deliver.Outcome{Tries: f.tries, Created: f.created, Log: []any{"task_id", l.task, "config_id", l.setting}}
	s, n, err := p.prepare(ctx, l)
	switch {
	case errors.Is(err, errGone):
		out.Verdict = deliver.Dropped
		return out
	case errors.Is(err, errDamaged):
		out.Verdict, out.Err = deliver.Refused, err
		return out
	case err != nil:
		out.Err = err
		return out
	}
	began := p.cfg.Now()
	a := p.poster.Post(ctx, s.Config.URL, headerOf(s, n), n.Payload)
	out.Verdict, out.Err, out.Wait = a.Verdict, a.Err, a.Wait
	out.Log = append(out.Log, "host", s.host(), "status", a.Status)
	if a.Verdict == deliver.Arrived || ctx.Err() == nil { // else we were cut off, which tells nothing of the host
		took := p.cfg.Now().Sub(began)
		f.host, f.treatment = s.canonicalHost(), treatmentOf(a.Status != 0, took, cmp.Or(p.cfg.Timeout, defaultTimeout))
	}
	if a.Verdict == deliver.Again && p.waiting.full(l.queue.sender) {
		out.Verdict = deliver.Refused // others wait for its room
	}
	return out
}

func headerOf(s Setting, n Notification) http.Header {
	header := http.Header{}
	header.Set(headerVersion, n.Version)
	header.Set(headerID, n.ID)
	if s.Config.Token != "" {
		header.Set(headerToken, s.Config.Token)
	}
	if auth := s.Config.Auth; auth != nil && auth.Credentials != "" {
		header.Set("Authorization", auth.Scheme+" "+auth.Credentials)
	}
	return header
}

var (
	// errGone says that a delivery need not be made any more.
	errGone = errors.New("the setting is gone")
	// errDamaged says that a setting or a row of the outbox is not what we have put there.
	errDamaged = errors.New("it is damaged")
)

// prepare reads what to post, and to whom. Settings are read each time: they can
// be changed and deleted until the last moment.
func (p *posts) prepare(ctx context.Context, l *lane) (s Setting, n Notification, err error) {
	if s, err = p.setting(ctx, l.laneKey); err != nil {
		return s, n, err
	}
	whole, err := p.cfg.Outbox.Delivery(ctx, l.flight.id)
	if errors.Is(err, store.ErrUnknown) {
		return s, n, errGone
	}
	if err != nil {
		return s, n, err
	}
	if n, err = read(whole); err != nil {
		return s, n, errDamaged
	}
	return s, n, nil
}

// setting reads the setting of a lane.
func (p *posts) setting(ctx context.Context, key laneKey) (Setting, error) {
	all, err := p.cfg.Outbox.Pushes(ctx, key.task)
	switch {
	case errors.Is(err, store.ErrUnknown):
		return Setting{}, errGone
	case err != nil:
		return Setting{}, err
	}
	for _, row := range all {
		if row.ID != key.setting {
			continue
		}
		s, err := Decode(row)
		if err != nil {
			err = errDamaged
		}
		return s, err
	}
	return Setting{}, errGone
}
