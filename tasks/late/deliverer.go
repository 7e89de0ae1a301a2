package late

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/deliver"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

const (
	timeout = 30 * time.Second
	page    = 256
)

// A Canvas is where the user of the workspace reads.
type Canvas interface {
	// Say shows the user a reply. An error with a method Permanent that returns true is
	// not tried again.
	Say(ctx context.Context, r Reply) error
}

// Config describes a deliverer. Outbox and Canvas must be set.
type Config struct {
	Outbox deliver.Outbox
	Canvas Canvas
	Now    func() time.Time
	Logger *slog.Logger // nil discards
}

// A Deliverer sends late replies. Create it with [New].
type Deliverer = deliver.Deliverer[int64, store.Delivery]

// New returns a deliverer. It starts nothing.
func New(cfg Config) *Deliverer {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	r := replies{cfg}
	return deliver.New(deliver.Config[int64, store.Delivery]{
		Words: deliver.Words{
			Kind: "late reply", Arrived: "the user was given a late reply",
			Failed: "the user could not be given a late reply", Dead: "the user could not be given a late reply",
		},
		Journal: r, Sender: r, Now: cfg.Now, Logger: cfg.Logger,
		Most: 1, // the user reads them in their order
	})
}

// replies are those of an outbox.
type replies struct{ cfg Config }

// Due implements [deliver.Journal].
func (r replies) Due(ctx context.Context, offer func(int64, store.Delivery) bool) (time.Duration, error) {
	rows, err := r.cfg.Outbox.Deliveries(ctx, Kind, 0, page)
	next := deliver.Idle
	for _, row := range rows {
		if wait := row.Due.Sub(r.cfg.Now()); wait > 0 {
			next = min(next, wait)
		} else {
			offer(row.ID, row)
		}
	}
	return next, err
}

// Settle implements [deliver.Journal].
func (r replies) Settle(ctx context.Context, row store.Delivery, s deliver.Settlement) error {
	return deliver.SettleIn(ctx, r.cfg.Outbox, row.ID, s)
}

// Send implements [deliver.Sender]: a caller may have got the reply since it was listed, or
// wait for it.
func (r replies) Send(ctx context.Context, listed store.Delivery) deliver.Outcome {
	row, err := r.cfg.Outbox.Delivery(ctx, listed.ID)
	out := deliver.Outcome{Err: err, Tries: row.Tries, Created: row.Created, Log: []any{"task_id", listed.Task}}
	switch {
	case errors.Is(err, store.ErrUnknown):
		return deliver.Outcome{}
	case err != nil || row.Due.After(r.cfg.Now()):
		return out
	}
	reply, err := decode(row.Body)
	if err != nil || reply.Text == "" {
		out.Verdict, out.Err = deliver.Refused, errors.New("it is damaged")
		return out
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out.Err = r.cfg.Canvas.Say(ctx, reply)
	out.Verdict, out.Log = deliver.VerdictOn(out.Err), append(out.Log, "chars", len(reply.Text))
	return out
}
