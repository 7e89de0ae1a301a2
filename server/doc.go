// Package server is the HTTP front of the runtime: every route, and what each of them is
// behind. Cards, probes, metrics and the platform's own routes are served here; the bindings
// of A2A by package binding.
//
// The types of A2A and the conversion of 0.3 are the SDK's. The envelopes, the bindings and
// the streams are ours, because the SDK rounds large ids, reports the errors of a stream
// behind a 200, makes up the ids of events, and shows callers the texts of its own decoding
// errors.
//
// A request passes, in this order: path cleaning, request id and log, panic barrier, Host
// and Origin, credentials (package doors), the bounds of memory and time (package bounds),
// the binding of its route (package binding, over package wire), and the guard that all
// bindings share (package guard).
//
// The platform of a workspace finds its own routes under /internal, open to its secret alone
// ([Platform]). It and its agents read nothing but messages of 0.3 over JSON-RPC, and take a
// status for the outcome: whether an answer has reached them is told to the engine by a
// [tasks.Receipt], which has the reply delivered in another way if it has not.
//
// # Ownership
//
// [Server.Serve] owns the listener, the connections and the goroutine that accepts them. When
// it returns, the listener is closed and every connection has been closed. Nothing here owns
// a turn: the contexts of requests end with them, and a handler that wants its work to go on
// detaches it.
//
// # Concurrency
//
// All methods may be called concurrently.
package server
