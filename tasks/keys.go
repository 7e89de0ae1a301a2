package tasks

// Keys of metadata. Those of a task also stand on the events that change its
// state.
const (
	MetaTurn        = "turn"        // what became of the task's newest message: TurnStarted, TurnQueued or TurnSteered; absent while it is not known
	MetaAhead       = "ahead"       // with TurnQueued: how many turns were ahead of it when it was accepted
	MetaThreadID    = "threadId"    // the codex thread
	MetaTurnID      = "turnId"      // the codex turn begun last
	MetaMessage     = "message"     // the number of the message, in the task, whose turn was begun last
	MetaReply       = "reply"       // the id of the artifact that holds the reply
	MetaUsage       = "usage"       // the tokens of all turns: inputTokens, cachedInputTokens, outputTokens, reasoningOutputTokens, totalTokens
	MetaFailure     = "failure"     // why the task failed: kind, and where there is one timer, afterSeconds, code, limit, resetsAt
	MetaHeld        = "held"        // the limit whose end the task waits for: kind, limit, reason, and resetsAt if it is known
	MetaInterrupted = "interrupted" // true when a turn of the task was cut off: part of its work may be done

	MetaAttempt  = "attempt"        // the number of the attempt at the newest turn; absent while it is the first
	MetaReplaced = "threadReplaced" // true when a new thread stands in the place of the conversation's earlier one: the model does not know what was said
	MetaRetryOf  = "retryOf"        // the interrupted task whose message this one runs again

	MetaTools = "tool_trace" // in a workspace: the tools that its turns have used, as the platform reads them: tool, input, output_preview

	MetaVoid = "void" // true on an artifact's update: the artifact is taken back, nothing comes in its place

	MetaNotification = "notification" // who is told of the task's end, and whether he was: target, status, notifiedAt, error

	// Those of a message. What they ask for is for its own turn.
	MetaCwd     = "cwd"            // where codex works, under its working directory
	MetaModel   = "model"          // the model that answers
	MetaSandbox = "sandbox"        // of codex's commands
	MetaPolicy  = "approvalPolicy" // when codex asks before it acts
	MetaNotify  = "notifyTarget"   // who is told of the task's end

	// What the message is part of, by W3C Trace Context.
	MetaTraceparent = "traceparent"
	MetaTracestate  = "tracestate"

	// MetaRetry, true on a message that was cut off, asks for it to be run again.
	MetaRetry = "retry"

	MetaPhase = "phase" // of an artifact: commentary or final_answer, if the model's provider says
)

// The values of [MetaTurn].
const (
	TurnStarted = "started"
	TurnQueued  = "queued"
	TurnSteered = "steered" // it is part of the turn that was running
)

// The names of artifacts.
const (
	nameMessage = "message"
	nameDiff    = "diff"

	mediaDiff = "text/x-diff"
)

// emptyReply stands where codex had nothing to say: readers take an empty text
// for a failure.
const emptyReply = "(codex returned empty output)"

// steeredReply answers a message of the user's that became part of the turn that runs.
const steeredReply = "Got your message. I am in the middle of a task; it goes into that, and the answer comes here."

// emptyQuestion stands where a question has no words.
const emptyQuestion = "codex is waiting for an answer"
