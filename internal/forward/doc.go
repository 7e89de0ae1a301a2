// Package forward stands between codex and the endpoint of its model: codex gives
// it a token that is worth nothing elsewhere, and it adds the real key. So the key
// is in no process that codex's commands may look into.
//
// It is also the way to the model, by WebSocket or over HTTP: codex is told that there are
// WebSockets, and is answered 426 where the endpoint has none (docs/adr/0013-websocket.md). A
// connection is made before it is needed, and kept while there is use for it. Each call is timed.
//
//   - What is let through: handler.go, request.go, paths.go.
//   - The way: transport.go; upgrade.go, and behind it a relay with a lane either way (relay.go,
//     lane.go, open_sockets.go); what is known of an endpoint (experience.go), and the connection that
//     is made ahead (warm.go).
//   - What is told of a call: call.go, which talk.go has from a WebSocket and heard.go from HTTP.
//   - The key, and bounds: secret.go, cover.go, answer.go, length.go. What an endpoint answers is handed on as it comes, but for the key, where that is
//     quoted: codex writes what it is told into files that its commands can read. A secret
//     is the key in the forms in which it may be quoted; it covers whole texts, and bodies
//     that come in pieces.
//
// It listens on loopback only. It keeps nothing of what is said, and none of it is in the log.
//
// [Listen] starts the goroutine that accepts, and those of its requests; a WebSocket has
// two beside that of its request, and a connection that is made ahead has one. [Forwarder.Close] ends them and waits. [Forwarder.Renew] and
// [Forwarder.Warm] may be called meanwhile.
package forward
