package appserver

import "sync/atomic"

// Stats counts what a healthy session has none of.
type Stats struct {
	NoiseLines    uint64 `json:"noiseLines"`    // lines that were no message, and skipped
	LongLines     uint64 `json:"longLines"`     // lines that were longer than allowed, and dropped
	DeltasDropped uint64 `json:"deltasDropped"` // deltas that found their thread's queue full
	LateAnswers   uint64 `json:"lateAnswers"`   // answers to no call, or to one whose caller had gone
}

// counters is Stats while it is counted.
type counters struct {
	noise, long, deltasDropped, late atomic.Uint64
}

// Stats returns the counts so far.
func (c *Client) Stats() Stats {
	return Stats{
		NoiseLines:    c.stats.noise.Load(),
		LongLines:     c.stats.long.Load(),
		DeltasDropped: c.stats.deltasDropped.Load(),
		LateAnswers:   c.stats.late.Load(),
	}
}
