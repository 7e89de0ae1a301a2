// Package tasks is the A2A task engine: it makes codex turns of messages, and
// A2A tasks, artifacts and events of turns. [Engine] implements the SDK's
// a2asrv.RequestHandler, so that every transport of the SDK can stand on it.
//
// # A message's way
//
// A message is checked, committed to the [Journal] with its task, and submitted
// to the [Runner]; from then on its caller may leave, and the turn goes on. A
// message that names no task makes one. A message that names a task which has
// not ended becomes a further turn of it, and the task ends with its last turn.
// The same message sent again (same given contextId, taskId and messageId) is
// the same task with the same answer.
//
// # Questions
//
// A turn may ask ([executor.Asked]): the task waits in the state input-required,
// with the oldest open question as its status. If the runner is an [Answerer],
// the next message to the task is the answer to it, committed like any message
// and given to the turn, which goes on; an answer that comes too late becomes a
// further turn. Questions end with their turn. What asks, how long a question
// stays open and what becomes of it over a restart is the runner's affair.
//
// # What a task holds
//
// Each agent message is an artifact whose id is that of the codex item, with one
// text part; the metadata key "phase" tells commentary from answers. The unified
// diff of a turn is an artifact named "diff". In a task that has ended, the
// artifact with the reply stands first and "reply" in the task's metadata names
// it. The message of the final status is what went wrong, or a repetition of a
// reply of up to 8 KiB: a longer one stands in its artifact only. The keys of
// metadata are the Meta constants.
//
// Progress is told in the stream and nowhere else: a status update in the
// present state, whose message has one data part:
//
//	{"type":"command","id","status","command","cwd","exitCode","durationMs","outputTail"}
//	{"type":"fileChange","id","status","changes":[{"path","kind"}],"more"}
//	{"type":"tool","id","status","server","tool","durationMs"}
//	{"type":"webSearch","id","status","query"}
//	{"type":"compaction","id","status"}
//	{"type":"item","id","status","item"}            any other kind of item
//	{"type":"plan","explanation","steps":[{"step","status"}]} or {"type":"plan","id","text"}
//	{"type":"reasoning","id","text"}                a summary, when it is whole
//	{"type":"notice","text"}
//	{"type":"turn","outcome","text"}                a turn ended, and the task goes on with the next
//
// Members without a value are left out; outputTail is at most the last 2 KiB.
//
// # Ownership and concurrency
//
// All methods may be called concurrently. A task that has not ended is one
// object with one lock; what it publishes is immutable, and the tasks that are
// returned share it: callers may change the [a2a.Task] struct they got, but
// nothing that it points to. A stream reads the task's log from where it was
// opened. Nothing is queued for a reader and nobody waits for one: entries that
// every reader has passed are garbage, and one that stalls keeps alive only what
// it has not read. A snapshot is the fold of the log up to the place where it
// was taken, so a stream that begins with one has no gap and repeats nothing.
//
// The timer that coalesces text belongs to its turn and ends with it. [Engine.Close]
// waits for every goroutine and timer of the package. Locks are taken in the
// order Engine.admit, task.mu, Engine.mu.
package tasks
