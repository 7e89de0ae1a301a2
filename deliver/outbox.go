package deliver

import (
	"context"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// An Outbox keeps the deliveries of tasks, of several kinds. A [store.Store] is one, and
// says what its methods mean.
type Outbox interface {
	Deliveries(ctx context.Context, kind string, after int64, limit int) ([]store.Delivery, error)
	Delivery(ctx context.Context, id int64) (store.Delivery, error)
	FinishDelivery(ctx context.Context, id int64) error
	PutOffDelivery(ctx context.Context, id int64, due time.Time) error
	GiveUpDelivery(ctx context.Context, id int64) error
}

var _ Outbox = (*store.Store)(nil)

// SettleIn notes in an outbox what became of a delivery.
func SettleIn(ctx context.Context, o Outbox, id int64, s Settlement) error {
	switch s.State {
	case PutOff:
		return o.PutOffDelivery(ctx, id, s.Due)
	case Dead:
		return o.GiveUpDelivery(ctx, id)
	}
	return o.FinishDelivery(ctx, id)
}
