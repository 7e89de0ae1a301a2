// Package wire is what a runtime and a machine say to each other: HTTP over TLS, with a token. It is values only.
//
//	GET    /healthz                       whether the machine is there; the only one that asks for no token
//	GET    /metrics                       for Prometheus
//	GET    /v1/watch                      [Status], a line of JSON each: at once, at each change, and each [Beat]
//	GET    /v1/exec                       a WebSocket to the exec-server that codex speaks to
//	PUT    /v1/turns/{turn}               a turn begins: [Turn]; 409 with a [Refusal]
//	DELETE /v1/turns/{turn}               it has ended
//	GET    /v1/commands                   [Commands] that run for the runtime
//	POST   /v1/commands/end               ends those of [Commands] that still are what they were; what is left
//	PUT    /v1/places/{place}             a folder for a conversation: [Want] in, [Place] out
//	DELETE /v1/places/{place}             takes it away
//	POST   /v1/places/{place}/bundle      a git bundle of the place's branch, which is taken in: [Place]
//	POST   /v1/places/{place}/commit      [Commit] in; a git bundle of what is new, 204 if nothing is, and [Committed] in headers
//	GET    /v1/places/{place}/file?path=  a file of the place, by a path below it, and its time in Last-Modified
//	PUT    /v1/places/{place}/file?path=  the same, written
//	GET    /v1/drain, PUT /v1/drain       whether the machine takes new turns: [Drain]
//
// All below /v1 name the runtime that asks, and its epoch, in [HeaderRuntime] and [HeaderEpoch]. What a machine has
// for one runtime no other sees or ends. A refusal has a [Refusal] for a body.
package wire
