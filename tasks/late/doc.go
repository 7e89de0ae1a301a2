// Package late brings the user of a workspace the replies that no caller waits for any
// more. The task engine puts a reply into the outbox with the end, or the question, that
// it is about, and takes it out when a caller has got it as his answer; what is still
// there when it is due goes to the user's canvas, once.
//
// # Delivery
//
// A reply that has arrived is not sent again; a process that is killed between the
// arrival and the note of it sends it once more. A platform that is down is tried again
// for a day ([store.IsOver]). One that will not have it is not.
//
// # Ownership and concurrency
//
// [Deliverer.Run] sends, one at a time, for the user reads them in their order; while one
// waits for its next try, those behind it go on. It returns when its context ends. Wake
// may be called from anywhere.
package late
