// Package appserver runs one codex app-server and speaks its protocol: a child
// process with JSON messages, one a line, on its standard input and output. It
// never starts a second child; whoever needs one calls [Start] again.
//
// # Ownership
//
// A [Client] owns its child and everything the child starts: [Start] puts the
// child in a session of its own, which is a process group too, and
// [Client.Close], [Client.Kill], a crash, output that ends while the child lives, and a
// child that no longer reads its input all end with the whole group killed. On Linux the child also
// dies with this process. Once [Client.Done] is closed, the child has been
// reaped, its group has been killed, everything that it had written has been
// read and handed on, and no goroutine of this package is left. A grandchild
// that left the group is beyond our reach; that it may hold the child's output
// open delays nothing.
//
// Whatever is waiting when the child ends is told at once, with an [ExitError]
// that says how the child ended, why it had to be ended, and its last words.
//
// # Concurrency
//
// All methods of a Client may be called concurrently.
//
// One goroutine reads the child's output. It routes notifications, in wire
// order and without decoding them, to the queue of the thread they name, where
// [Subscription.Next] takes them; a thread that nobody follows goes to
// [Config.OnGlobal], which runs on the reading goroutine and must not block.
// Reading never waits for a reader: a queue that is full gives up deltas, which
// the completed item repeats, and says so with [NoteOverflow]. Where much more
// waits, as of a thread in which no turn runs, it gives up other things, too, which
// the history of the thread has.
//
// Answers and the child's own requests go through sourcegraph/jsonrpc2, over an
// object stream of ours. Each request is handled by [Config.OnRequest] on a
// goroutine of its own, whose context ends with the child; [Client.Done] waits
// for it. An answer may be seen by its caller after notifications that followed
// it on the wire, so what depends on the order is done while reading: the queue
// of a thread exists from before its answer is passed on (see [Client.ThreadStart]).
//
// Writing never blocks a caller either: one goroutine writes, with a deadline.
//
// A [Subscription] is used by one goroutine at a time.
package appserver
