// Package wire reads and writes A2A 1.0 and 0.3 as they are on the wire, over JSON-RPC and
// over HTTP+JSON. Its functions are pure: bytes and the SDK's types of 1.0 go in, and come
// out. It knows of no connection, no handler and no state, and keeps nothing of what it is
// given.
//
// A body is scanned once, before anything is made of it: whether it is JSON in UTF-8, how
// much memory what is decoded of it takes, and whether it keeps to the bounds and to the
// names of the protocol ([ParseEnvelope], [ScanREST]). A message is then read with the
// leniency that callers in the field need ([V1MessageRPC], [V1MessageREST], [V0Message],
// [V0MessageREST]): what the SDK's types take as it is, they are given as it is, and all
// else is brought into their form or refused in words that speak of the request.
//
// The names of what is of 0.3 alone begin with V0. Its types and the conversion are the
// SDK's; what those lose or do not take is here.
//
// Errors that this package makes are the SDK's [a2a.Error], and their texts are for the
// caller. [ToREST] and [FailedRPC] write any error that may be shown.
package wire
