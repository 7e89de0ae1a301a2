// Package late brings the user of a workspace the replies that no caller waits for any
// more. The task engine puts a reply into the outbox with the end, or the question, that
// it is about, and takes it out when a caller has got it as his answer; what is still
// there when it is due goes to the user's canvas, once.
//
// # Delivery
//
// One reply is sent at a time, for the user reads them in their order; while one waits for
// its next try, those behind it go on. A platform that is down is tried again for a day, one
// that refuses a reply is not. The rest is as package deliver has it.
package late
