// Package keys has the names in the metadata of tasks, messages and artifacts, and the values
// that some of them have.
package keys

// Keys of metadata. Those of a task also stand on the events that change its
// state.
const (
	Turn        = "turn"        // what became of the task's newest message: TurnStarted, TurnQueued or TurnSteered; absent while it is not known
	Ahead       = "ahead"       // with TurnQueued: how many turns were ahead of it when it was accepted
	ThreadID    = "threadId"    // the codex thread
	TurnID      = "turnId"      // the codex turn begun last
	Message     = "message"     // the number of the message, in the task, whose turn was begun last
	Reply       = "reply"       // the id of the artifact that holds the reply
	Usage       = "usage"       // the tokens of all turns: inputTokens, cachedInputTokens, outputTokens, reasoningOutputTokens, totalTokens
	ModelCalls  = "modelCalls"  // of the turn that has ended last, how its requests to the model went; absent while one runs, and where that cannot be seen
	Failure     = "failure"     // why the task failed: kind, and where there is one timer, afterSeconds, code, limit, resetsAt
	Held        = "held"        // the limit whose end the task waits for: kind, limit, reason, and resetsAt if it is known; or the room on a machine: kind, reason, until
	Interrupted = "interrupted" // true when a turn of the task was cut off: part of its work may be done

	Machine  = "machine"        // where the commands of the turn run that was begun last; absent where that is this machine
	Attempt  = "attempt"        // the number of the attempt at the newest turn; absent while it is the first
	Replaced = "threadReplaced" // true when a new thread stands in the place of the conversation's earlier one: the model does not know what was said
	RetryOf  = "retryOf"        // the interrupted task whose message this one runs again

	Tools = "tool_trace" // in a workspace: the tools that its turns have used, as the platform reads them: tool, input, output_preview

	Void = "void" // true on an artifact's update: the artifact is taken back, nothing comes in its place

	Notification = "notification" // who is told of the task's end, and whether he was: target, status, notifiedAt, error

	// Those of a message. What they ask for is for its own turn.
	Cwd     = "cwd"            // where codex works, under its working directory; of a task: where the turn that was begun last does
	Model   = "model"          // the model that answers
	Sandbox = "sandbox"        // of codex's commands
	Policy  = "approvalPolicy" // when codex asks before it acts
	Labels  = "machineLabels"  // that the machine has on which commands run, as key=value with commas between them
	Notify  = "notifyTarget"   // who is told of the task's end

	// What the message is part of, by W3C Trace Context.
	Traceparent = "traceparent"
	Tracestate  = "tracestate"

	// Bridge, true on a message, says that a program has handed the task over (package bridge).
	Bridge = "bridge"

	// Retry, true on a message that was cut off, asks for it to be run again.
	Retry = "retry"

	Phase = "phase" // of an artifact: commentary or final_answer, if the model's provider says
)

// The values of [Turn].
const (
	TurnStarted = "started"
	TurnQueued  = "queued"
	TurnSteered = "steered" // it is part of the turn that was running
)

// The names of artifacts.
const (
	NameMessage = "message"
	NameDiff    = "diff"

	MediaDiff = "text/x-diff"
)
