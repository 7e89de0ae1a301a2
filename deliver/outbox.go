package deliver

import (
	"context"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// An Outbox keeps the deliveries of tasks, of several kinds. A [store.Store] is one, and
// says what its methods mean.
type Outbox interface {
	Waiting(ctx context.Context, kind string, after int64, limit int) ([]store.Delivery, error)
	Delivery(ctx context.Context, id int64) (store.Delivery, error)
	Sent(ctx context.Context, ids ...int64) error
	Failed(ctx context.Context, id int64, due time.Time) error
	Dead(ctx context.Context, ids ...int64) error
}

var _ Outbox = (*store.Store)(nil)

// SettleIn notes in an outbox what became of a delivery.
func SettleIn(ctx context.Context, o Outbox, id int64, s Settlement) error {
	switch s.State {
	case PutOff:
		return o.Failed(ctx, id, s.Due)
	case Dead:
		return o.Dead(ctx, id)
	}
	return o.Sent(ctx, id)
}
