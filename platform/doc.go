// Package platform is the client of the Molecule platform's HTTP interface, as one
// workspace uses it.
//
// Each request carries the workspace's bearer token, which is read afresh: the
// platform replaces it whenever it starts the workspace's container anew. After a 401
// it is read once more, for the file may be written while we ask; then the workspace
// is registered anew, by a function that the client is given, and the request sent a
// last time. What the platform gives out, a first token and the secret that it shows
// when it calls us, is written to the workspace's configuration, 0600 and whole.
//
// What has failed is sent again for a short time, if that is safe: see [Again] for what
// is worth it. A request that does something is repeated only when the platform has
// certainly not seen it. Registering and heartbeats are tried once, for they have a
// rhythm that is not ours.
//
// The platform is found in three ages. What it has is learnt from its answers, never from
// a version: [ErrUnsupported] is remembered by the client.
//
// A [Client] may be used concurrently and starts no goroutines. It owns the two files
// that it writes, the token's and the inbound secret's.
//
// Errors are of the type [Error] where the platform has answered. They hold the
// head of its answer, never what was sent, and never a token.
package platform
