// Package server is the HTTP front of the runtime: every route, and every rule
// about who may call it and what a call may look like, in front of a [Handler].
//
// JSON-RPC for A2A 1.0 and 0.3 stands at / and /a2a and is switched by method
// name. HTTP+JSON stands at the paths of 1.0, and that of 0.3 under /v1. The
// types and the 0.3 conversion are the SDK's. The envelopes, the bindings and
// the streams are ours, because the SDK rounds large ids, reports the errors of
// a stream behind a 200, makes up the ids of events, and shows callers the texts
// of its own decoding errors.
//
// Each event of a stream has the id that the handler gave it, and goes on the
// wire as one of three encodings that all readers of the event share ([form]),
// between what belongs to the request ([framing]). What a caller sends as
// Last-Event-ID is for the handler to read.
//
// A request passes, in this order: path cleaning, request id and log, panic
// barrier, Host and Origin, token, route. Behind the route stands [guard],
// which every binding shares: it holds calls to what the card promises and
// decides, in one place, which error texts a caller may see. What a request must
// look like on the wire is checked by its binding; whether it makes sense is for
// the handler to say.
//
// The platform of a workspace finds its own routes under /internal, closed to whoever
// does not show its secret ([Platform]). It and its agents read nothing but messages of
// 0.3 over JSON-RPC, and take a status for the outcome: what they are answered is made in
// message_reply.go, and whether it has reached them is told to the engine by a
// [tasks.Receipt], which has the reply delivered in another way if it has not.
//
// # Ownership
//
// [Server.Serve] owns the listener, the connections and the goroutine that
// accepts them. When it returns, the listener is closed and every connection
// has been closed. A stream owns one goroutine, for its keep-alive comments,
// which has ended before the handler of its request returns. Nothing here owns
// a turn: the contexts of requests end with them, and a handler that wants its
// work to go on detaches it.
//
// # Concurrency
//
// All methods may be called concurrently. Each write to a connection has a
// deadline of its own, so a reader that has stalled costs its own request and
// nothing else. An iterator of events is consumed by the goroutine of its
// request at the speed of its reader: the handler that produces it must not
// make a turn wait for it.
package server
