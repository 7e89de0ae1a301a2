package channel

import "context"

// Metrics counts what a channel does for each workspace. Implementations must not block.
type Metrics interface {
	Polled(workspace string, err error)   // the inbox was asked; err says why it could not be read
	Accepted(workspace string, rows int)  // rows were taken on that were not known
	Replied(workspace string, taken bool) // a reply has arrived, or was refused for good
}

type noMetrics struct{}

func (noMetrics) Polled(string, error) {}
func (noMetrics) Accepted(string, int) {}
func (noMetrics) Replied(string, bool) {}

// counted counts a poll that was not cut short by our own end.
func (p *poller) counted(ctx context.Context, err error) {
	if ctx.Err() == nil {
		p.cfg.Metrics.Polled(p.space.ID, err)
	}
}
