// Package commands finds the processes that codex has started for tool calls, by what stands in their environment,
// and ends them.
package commands

// A Command is a process of this machine that codex, or something that codex
// ran, has started for a tool call. codex says so in the environment of each
// command (seen on 0.169.0: CODEX_THREAD_ID, CODEX_SESSION_ID, CODEX_TOOL_CALL_ID), and that is
// passed on to whatever the command starts, also when it leaves its session.
// What runs in codex's sandbox does not outlive it and needs no looking for.
type Command struct {
	Pid      int
	ThreadID string
	// SessionID is the thread that the conversation began with: for a command of
	// a subagent, that of its parent.
	SessionID string
	CallID    string // the id of the commandExecution item
	// Mark says for which runtime a machine runs it: the value of [MarkVariable]. It is empty where no machine does.
	Mark string
}

// MarkVariable is in the environment of all that a machine runs for a runtime, codex's exec-server itself too.
const MarkVariable = "MOLECULE_MACHINE_RUNTIME"

const (
	threadVariable  = "CODEX_THREAD_ID"
	sessionVariable = "CODEX_SESSION_ID"
	callVariable    = "CODEX_TOOL_CALL_ID"
)

// ofCall reports whether a process was started for a tool call.
func (c Command) ofCall() bool { return c.ThreadID != "" && c.CallID != "" }
