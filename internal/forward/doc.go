// Package forward stands between codex and the endpoint of its model: codex gives
// it a token that is worth nothing elsewhere, and it adds the real key. So the key
// is in no process that codex's commands may look into.
//
// It is also the way to the model, by WebSocket or over HTTP: codex is told that there are
// WebSockets, and is answered 426 where the endpoint has none (docs/adr/0013-websocket.md). A
// connection is made before it is needed, and kept while there is use for it. Each call is timed.
//
//   - handler.go has what codex asks, upgrade.go what of it goes on by a WebSocket, which is a
//     relay with a lane either way. experience.go is what is known of an endpoint, warm.go the
//     connection that is made ahead, call.go what is told of a call.
//   - What an endpoint answers is handed on as it comes, but for the key, where that is
//     quoted: codex writes what it is told into files that its commands can read. A secret
//     is the key in the forms in which it may be quoted; it covers whole texts, and bodies
//     that come in pieces.
//
// It listens on loopback only. It keeps nothing of what is said, and logs no more than that an
// endpoint could not be reached, and by which way it is asked.
//
// [Listen] starts the one goroutine that accepts, and those of its requests; a WebSocket has
// two beside that of its request. [Forwarder.Close] ends them and waits. [Forwarder.Renew] and
// [Forwarder.Warm] may be called meanwhile.
package forward
