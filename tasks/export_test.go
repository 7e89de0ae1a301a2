package tasks

const (
	MostToldOfAll = mostToldOfAll
	PeersTold     = peersTold
)

// Retell has other tasks, of other agents or of the user, tell so many bytes again.
func (e *Engine) Retell(peer bool, bytes int) { e.retold.change(peer, bytes) }
