package channel

import "sync"

// A space is a workspace, as the channel works for it.
type space struct {
	Workspace
	names  names
	conn   *connection
	bodies chan struct{} // one for each large row of other agents that is in memory
	lift   sync.Mutex    // held while files are put on the platform
}

func newSpace(w Workspace, several bool) *space {
	return &space{Workspace: w, names: names{w.ID, several}, conn: newConnection(), bodies: make(chan struct{}, mostBodies)}
}
