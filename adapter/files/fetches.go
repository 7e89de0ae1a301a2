package files

import "context"

// How many files are fetched by URL at a time, and how many of these for other agents. Each
// takes as long as its server likes, within bounds.
const (
	mostFetches = 16
	peerFetches = mostFetches / peerShare
)

// Fetches bound what is fetched by URL at a time. A place that is given back goes to the
// fetch that has waited longest. Folders of one process must share one.
type Fetches struct {
	all   chan struct{}
	peers chan struct{} // those for other agents
}

// NewFetches returns one with all of its places free.
func NewFetches() *Fetches {
	return &Fetches{make(chan struct{}, mostFetches), make(chan struct{}, peerFetches)}
}

// enter waits for a place. What it returns is called to give that back. An error is the cause
// for which ctx has ended.
func (f *Fetches) enter(ctx context.Context, peer bool) (leave func(), err error) {
	if ctx.Err() != nil { // also where there is a place
		return nil, context.Cause(ctx)
	}
	places := []chan struct{}{f.all}
	if peer { // in this order: one that waits for its share keeps no place from others
		places = []chan struct{}{f.peers, f.all}
	}
	taken := 0
	leave = func() {
		for _, place := range places[:taken] {
			<-place
		}
	}
	for _, place := range places {
		select {
		case place <- struct{}{}:
			taken++
		case <-ctx.Done():
			leave()
			return nil, context.Cause(ctx)
		}
	}
	return leave, nil
}
