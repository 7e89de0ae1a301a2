// Package binding serves A2A over HTTP: JSON-RPC and HTTP+JSON, of 1.0 and of 0.3, in front
// of a [guard.Guard]. What is on the wire is read and written by package wire; here is which
// method and which path is which call, and how an answer or a stream of events goes out.
//
// JSON-RPC is switched between the versions by method name, HTTP+JSON by path. Each event of
// a stream has the id that the handler gave it, and goes out as one of few encodings that all
// readers of the event share ([wire.Form]), between what belongs to the request ([framing]).
// What a caller sends as Last-Event-ID is for the handler to read.
//
// A stream owns one goroutine, for its keep-alive comments, which has ended before the
// handler of its request returns. Each write to a connection has a deadline of its own, so
// a reader that has stalled costs its own request and nothing else. An iterator of events is
// consumed by the goroutine of its request at the speed of its reader: the handler that
// produces it must not make a turn wait for it.
package binding
