// Package push makes the push notifications of tasks: it keeps what a caller has
// asked for ([Setting]) and posts what the task engine has put into the outbox
// ([Deliverer]). What is told of a task, and when, is the engine's affair.
//
// # Delivery
//
// Each notification is posted until the receiver takes it: at least once, and in
// order for each setting of a task. One that is posted again, also by another
// process, has the id that it had before. What the receiver or the network may
// get over is tried again for [patience]; what it refuses for good, or the guard
// does, is given up at once. Nothing of a setting but its id and the host of its
// URL is ever logged.
//
// # Ownership and concurrency
//
// [Deliverer.Run] owns the schedule: which deliveries wait, in which lane, for
// whom. A lane is the deliveries of one setting of one task; its first one blocks
// the others. Run starts a goroutine for each post and waits for all of them
// before it returns. At most [mostPosts] run at the same time, [mostOfHost] of them
// to one host, and [mostRepeated] of all are repetitions: a receiver that hangs, and
// many that are gone, leave room for the others. Wake may be called by anybody.
package push
