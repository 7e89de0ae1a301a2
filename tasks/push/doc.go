// Package push makes the push notifications of tasks: it keeps what a caller has
// asked for ([Setting]) and posts what the task engine has put into the outbox
// ([Deliverer]). What is told of a task, and when, is the engine's affair.
//
// # Delivery
//
// Each notification is posted until the receiver takes it: at least once, and in
// order for each setting of a task. One that is posted again, also by another
// process, has the id that it had before. What the receiver or the network may
// get over is tried again, what it refuses for good, or the guard does, is given up at
// once. The rest is as package deliver has it. Nothing of a setting but its id and the host
// of its URL is ever logged.
//
// # Ownership and concurrency
//
// The schedule says which deliveries wait, in which lane, for whom. A lane is the
// deliveries of one setting of one task; its first one blocks the others. All methods may
// be called concurrently.
//
// # Fairness
//
// At most [mostPosts] posts run at the same time, and each may take all of its time: a
// receiver need not answer. So they are shared out by who has the tasks made ([Sender]):
// one has at most half of them, all peers together three quarters, and senders take turns,
// the user first. The same goes for the [mostRepeated] of them that repeat what has failed,
// and the [mostLarge] whose bodies take much memory. [mostOfHost] go to one host. One that
// is slow to answer, or does not, has one place for a while, and its first posts count as
// repetitions. Hosts are told apart by name: a sender whose zone has all names there are
// gets no more by that than the sender's half. Addresses would not tell them apart better:
// one is known only once a place is taken, one is shared by many hosts that have nothing
// to do with each other, and a name server that does not answer has none.
//
// What waits is bounded as well, in number and in bytes, if what fills the outbox asks
// [Deliverer.Full] and [Deliverer.Reserve]. While so much waits, what fails is given up.
package push
