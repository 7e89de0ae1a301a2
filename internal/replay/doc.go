// Package replay plays a record of RUNTIME_DEBUG_WIRE (package wirelog) through the
// executor and the task engine, without codex, a credential or a network: what
// codex said comes from the record, and so does everything else that decided what
// the program did. What the program asks is held against what it asked then.
//
// # How
//
// A [player] goes through the record line by line, on one goroutine. What came from
// outside it does again: it sends messages, cancels, answers. What codex said it
// says, through a child that only relays (relay.go). Where the record has something
// that the program did, such as a call of codex or the end of a job, the player
// waits until the program has done it again; if that does not come it notes a
// divergence and goes on. So the order of the record holds, and time does not
// matter. Calls that only look, such as thread/turns/list, wait for nothing: they
// are answered as the record has it, in their own order.
//
// # Safety
//
// The ids of threads are changed before anything is done: the executor kills the
// commands of its threads, and the record may come from this machine. Nothing is
// written but in a folder of its own, which is removed.
package replay
