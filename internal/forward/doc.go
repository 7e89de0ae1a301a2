// Package forward stands between codex and the endpoint of its model: codex gives
// it a token that is worth nothing elsewhere, and it adds the real key. So the key
// is in no process that codex's commands may look into.
//
// It listens on loopback only. It reads no request and no answer, keeps nothing,
// and logs no more than that an endpoint could not be reached.
//
// [Listen] starts the one goroutine that accepts, and those of its requests;
// [Forwarder.Close] ends them and waits. [Forwarder.Renew] may be called meanwhile.
package forward
