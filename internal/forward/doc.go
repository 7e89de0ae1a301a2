// Package forward stands between codex and the endpoint of its model: codex gives
// it a token that is worth nothing elsewhere, and it adds the real key. So the key
// is in no process that codex's commands may look into.
//
// What an endpoint answers is handed on as it comes, but for the key, where that is
// quoted: codex writes what it is told into files that its commands can read. A secret
// is the key in the forms in which it may be quoted; it covers whole texts, and bodies
// that come in pieces.
//
// It listens on loopback only. It keeps nothing, and logs no more than that an endpoint
// could not be reached.
//
// [Listen] starts the one goroutine that accepts, and those of its requests;
// [Forwarder.Close] ends them and waits. [Forwarder.Renew] may be called meanwhile.
package forward
