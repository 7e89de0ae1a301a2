package tasks

import (
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// The words that are no message to codex, but to the runtime, if a message that
// names no task consists of one and nothing else.
const (
	commandStop   = "/stop"   // ends what runs and waits in the context
	commandNew    = "/new"    // lets go of the context's thread
	commandStatus = "/status" // says how the context stands
)

// commandOf returns the command that a new message is, or "".
func commandOf(m *a2a.Message) string {
	if m.TaskID != "" {
		return ""
	}
	return commandIn(m)
}

// commandIn returns the command that a message consists of, or "".
func commandIn(m *a2a.Message) string {
	if len(m.Parts) != 1 {
		return ""
	}
	switch word := strings.TrimSpace(m.Parts[0].Text()); word {
	case commandStop, commandNew, commandStatus:
		return word
	}
	return ""
}

// commandRestarted is the message by which the platform tells that it has started the
// workspace anew. Codex need not be asked about it: its threads went on.
const commandRestarted = "restart_context"

const (
	restartKey  = "kind"
	restartKind = "restart_context"

	restartedText = "The workspace is back after its restart. Its conversations go on where they were."
)

// pressedIn returns the command that a message about a request to the user is, or "".
func pressedIn(meta map[string]any) string {
	switch {
	case meta[pressedKey] == true:
		return commandPressed
	case meta[timeUpKey] == true:
		return commandTimeUp
	}
	return ""
}

// restartIn returns the command that the metadata of a message make it, or "".
func restartIn(meta map[string]any) string {
	if meta[restartKey] == restartKind {
		return commandRestarted
	}
	return ""
}
