package keys

import (
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// longestTrace bounds what a trace context may be: a traceparent has 55 characters, and
// nobody has to pass on a tracestate of more than 512.
const longestTrace = 512

// TraceOf is what a message says that it is part of. It stands with the message in the
// journal, and so outlives the process.
func TraceOf(m *a2a.Message) agent.TraceContext {
	parent, _ := m.Metadata[Traceparent].(string)
	state, _ := m.Metadata[Tracestate].(string)
	if parent == "" || len(parent) > longestTrace {
		return agent.TraceContext{}
	}
	if len(state) > longestTrace {
		state = ""
	}
	return agent.TraceContext{Parent: parent, State: state}
}

// TraceID is the trace that a message is part of, as logs name it; "" if it is of none.
func TraceID(m *a2a.Message) string {
	const begin, end = len("00-"), len("00-") + 32
	parent := TraceOf(m).Parent
	if len(parent) < end || strings.Trim(parent[begin:end], "0123456789abcdef") != "" {
		return ""
	}
	return parent[begin:end]
}
