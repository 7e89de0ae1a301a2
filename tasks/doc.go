// Package tasks is the A2A task engine: it makes codex turns of messages, and
// A2A tasks, artifacts and events of turns. [Engine] implements the SDK's
// a2asrv.RequestHandler, so that every transport of the SDK can stand on it.
//
// # A message's way
//
// A message is checked, committed to the [Journal] with its task and its place in
// the queue, and submitted to the [Runner]; from then on its caller may leave, the
// process may die, and the turn goes on or comes back. A message that names no
// task makes one. A message that names a task whose turn runs goes into that turn,
// if that takes it: its end is committed with that of the turn. Any other message
// that names a task which has not ended becomes a further turn of it, and the task
// ends with its last turn. A message that names no task can find
// one that asks, or, with [Config.MidTurn] or [Workspace].Steer, one whose turn runs
// (host.go), or be a command to the runtime (commands.go). The same message sent
// again (same given contextId, taskId and messageId) is the same task with the same
// answer. One whose turn was cut off runs again if its metadata says "retry".
//
// # What is committed, and when
//
// A change of state, the start of a turn's first tool, and a task's end with its
// artifacts are committed before they are published. Everything else that is
// published, text above all, is committed within a second or 64 KiB (record.go,
// package codec). What cannot be committed is kept and tried again each second, and the
// turn goes on. [Engine.Recover] makes tasks of what an earlier process left, from
// their heads and events, and gives their messages back to the runner with what
// is known of their attempts; what a further attempt shows takes the place of what
// the one before has shown. A turn that ends because we stop, and has not used a
// tool, stays in the journal for the next process.
//
// # Cursors of a stream
//
// Each event has a cursor, "<epoch>.<number>" ([feed.Cursor]). Epochs count the attempts
// and the starts of the program: within one there is no gap and no repetition.
// [Engine.Stream] and [Engine.Resume] go on behind a cursor that a reader has seen,
// also over a restart and after the task's end (resume.go).
//
// # Push notifications
//
// With [Config.Push] callers can have a task told to a URL of theirs. Each change
// of its state and each finished artifact goes into the journal's outbox, in the
// commit of what it speaks of (push.go); package push posts it. A task that
// nobody asked to be told of costs nothing.
//
// # Overrides
//
// The metadata of a message can ask for a directory, a model, a sandbox and an
// approval policy for its turn, within [overrides.Bounds], and name somebody who
// is told of the task's end: then a notice is committed with the end (notify.go),
// which package notify sends. What became of it is the task's "notification".
//
// # Questions
//
// A turn may ask ([agent.Question]): the task waits in the state input-required,
// with the open questions as its status, the oldest first. The next message to the
// task, or to its conversation, is the answer to the one that its data names, else
// to the oldest. It is committed like any message and given to the turn, which goes
// on; one that is not understood is kept, and the question posed again; one that
// comes too late becomes a further turn.
// Questions end with their turn. How long one stays open is the runner's affair.
//
// The journal has a question from before it is shown until its answer has
// arrived, and the name of the message that answers it from before the runner is
// told. So the next process knows which are open and which have been answered,
// with an effect that nobody saw. It poses the open ones as stale, without a turn:
// an answer makes a new one, which carries both, and so does one that was under
// way. The messages whose turns had asked have had their turn.
//
// # Waiting
//
// A turn that the model would refuse waits ([agent.Paused]): for a login in the
// state auth-required, for the end of a limit in the state that it has (held.go).
//
// # Files
//
// With [Config.Files] the files of a message are on the disk before it is accepted, and
// the stored message names them: so the next process finds them, too.
//
// # In a workspace
//
// Who sends decides where a message runs (origin, route.go): another agent has conversations of
// its own, whatever it names, and codex gets its words between marks.
//
// The platform reads the answer to a blocking call, and nothing else. A [Receipt] tells
// whether the answer has arrived. What the user of the workspace waits for, a reply or a
// question, is put into the outbox with the state that it is about, and taken out when a
// receipt says that it has arrived; package late delivers what is left. So it is told
// however this process ends, and told once unless that is between the telling and the
// note of it.
//
// # What a task holds
//
// Each agent message is an artifact whose id is that of the codex item, with one
// text part; the metadata key "phase" tells commentary from answers. The unified
// diff of a turn is an artifact named "diff", shown before the message that speaks
// of it (diff.go). In a task that has ended, the artifact with the reply stands last
// and "reply" in the task's metadata names it. The reply is told once: the message of
// the final status is what went wrong, or that there is no reply. The last chunk of a
// text is not empty (artifact.go). The texts of a task have a bound (bound.go). The keys of
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
//	{"type":"plan","explanation","steps":[{"step","status"}],"more"} or {"type":"plan","id","text"}
//	{"type":"reasoning","id","text"}                a summary, when it is whole
//	{"type":"notice","text"}
//	{"type":"turn","outcome","text"}                a turn ended, and the task goes on with the next
//
// Members without a value are left out; outputTail is at most the last 2 KiB. A sender
// whose accepted output modes have no place for data gets none of it, and those without
// a place for text get each text in one chunk (accepted.go).
//
// # Ownership and concurrency
//
// All methods may be called concurrently. A task that has not ended is one
// object that is changed by one caller at a time, whose turn takes until the change is
// committed. Its readers do not wait for that: they read its feed, which has what was
// shown last. What a task publishes is immutable, and the tasks that are returned share
// it: callers may change the [a2a.Task] struct they got, but nothing that it points to.
// A stream reads the task's log from where it was opened. Nothing is queued for a reader,
// and what a task does waits for no reader: entries that
// every reader has passed are garbage, and one that stalls keeps alive only what
// it has not read, up to 4 MiB of a task and 32 MiB of all (live.go). Behind that
// its events come from the journal; if that takes nothing at the time, its stream
// begins anew with the task as it is. A snapshot is the fold of the log up to the
// cursor where it was taken, so a stream that begins with one has no gap and repeats
// nothing.
//
// The timer that coalesces text belongs to its turn and ends with it. [Engine.Close]
// waits for every goroutine and timer of the package. Locks are taken in the
// order admission, task.writing, feed.Feed, roster; no mutex is held over a commit.
package tasks
