package rollout

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// A Trace is what a rollout file has of the turn of one user message.
type Trace struct {
	Found  bool // the message stands in the file
	Tool   bool // the turn called a tool, or something that is not known to be none
	Called bool // the model has called something, be it a plan, which changes nothing
	Ended  bool // the turn's end stands in the file
	Unread bool // it is complete, and nothing of the model's is behind the message: no words, no call, no tokens
}

// What is read of a rollout file. It is a file of the user that codex runs as, whose
// commands can put anything in its place.
const (
	mostRollout = 2 << 30
	mostTurns   = 1 << 16 // in which something was called
)

// ReadTrace looks for the turn of the user message with a client id in the
// rollout file at path. The file belongs to codex: the thread should not be
// running a turn.
func ReadTrace(path, clientID string) (Trace, error) {
	if path == "" {
		return Trace{}, errors.New("read rollout: codex keeps no file of this thread")
	}
	file, info, err := regular.Open(path)
	if err != nil {
		return Trace{}, fmt.Errorf("read rollout: %w", err)
	}
	defer file.Close()
	if info.Size() > mostRollout {
		return Trace{}, fmt.Errorf("read rollout %s: it has %d bytes, which no conversation has", path, info.Size())
	}
	trace, err := readTrace(io.LimitReader(file, mostRollout), clientID)
	if err != nil {
		return Trace{}, fmt.Errorf("read rollout %s: %w", path, err)
	}
	return trace, nil
}

func readTrace(from io.Reader, clientID string) (Trace, error) {
	r := traceReader{clientID: clientID, called: map[string]bool{}}
	lines := bufio.NewReaderSize(from, 1<<16)
	short := false // of what a line has
	for {
		line, whole, err := readLine(lines)
		if len(bytes.TrimSpace(line)) > 0 {
			r.line(line)
		}
		short = short || !whole
		switch {
		case errors.Is(err, io.EOF) && short && !r.found:
			return Trace{}, errors.New("it has a line that is too long to be read, in which the message may be")
		case errors.Is(err, io.EOF):
			return r.trace(), nil
		case err != nil:
			return Trace{}, err
		}
	}
}

// A traceReader takes the lines of a rollout file in order. A line belongs to
// the turn that it names, else to the one that began last.
type traceReader struct {
	clientID string
	current  string          // the turn that began last
	called   map[string]bool // the turns that have called something: whether that was a tool
	many     bool            // there are more of them
	found    bool
	turn     string // that of the message, once found
	behind   bool   // something else than messages stands behind it in that
	end      string // of that; empty while it is not there
}

// trace is what was read.
func (r *traceReader) trace() Trace {
	if !r.found {
		return Trace{}
	}
	tool, called := r.called[r.turn]
	return Trace{
		Found: true, Tool: tool || r.many, Called: called || r.many,
		Ended: r.end != "", Unread: r.end == completed && !r.behind,
	}
}

// A rolloutLine is as much of a line as is needed to judge it.
type rolloutLine struct {
	Type    string `json:"type"`
	Payload struct {
		Type      string `json:"type"`
		Name      string `json:"name"`      // of a function_call
		Namespace string `json:"namespace"` // of a function_call: the server that has it
		TurnID    string `json:"turn_id"`
		Item      struct {
			Type     string `json:"type"`
			ClientID string `json:"client_id"`
		} `json:"item"`
		Passthrough struct {
			TurnID string `json:"turn_id"`
		} `json:"internal_chat_message_metadata_passthrough"`
	} `json:"payload"`
}

// completed is how the file calls the end of a turn that has completed.
const completed = "task_complete"

func (r *traceReader) line(text []byte) {
	var l rolloutLine
	if json.Unmarshal(text, &l) != nil {
		r.torn(text)
		return
	}
	p := &l.Payload
	if l.Type == "event_msg" && p.Type == "task_started" {
		r.current = p.TurnID
	}
	turn := r.current
	switch {
	case p.TurnID != "":
		turn = p.TurnID
	case p.Passthrough.TurnID != "":
		turn = p.Passthrough.TurnID
	}
	switch {
	case p.Item.ClientID == r.clientID:
		r.found, r.turn, r.behind = true, turn, false
	case !r.found || turn != r.turn:
	case l.Type == "event_msg" && (p.Type == completed || p.Type == "turn_aborted"):
		r.end = p.Type
	default:
		r.behind = r.behind || p.Item.Type != "UserMessage"
	}
	if tool := l.isTool(); tool || l.Payload.Type == "function_call" {
		r.call(turn, tool)
	}
}

func (r *traceReader) call(turn string, tool bool) {
	before, called := r.called[turn]
	if len(r.called) == mostTurns && !called {
		r.many = true
		return
	}
	r.called[turn] = before || tool
}

// isTool reports whether a line may be the trace of a tool. What is not known
// to be harmless may be.
func (l *rolloutLine) isTool() bool {
	switch l.Type {
	case "response_item":
		return !harmlessResponse(l.Payload.Type) && (l.Payload.Type != "function_call" || !harmlessTool(l.Payload.Namespace, l.Payload.Name))
	case "event_msg":
		if l.Payload.Type == "item_completed" || l.Payload.Type == "item_started" {
			return !harmlessItem(l.Payload.Item.Type)
		}
		return !harmlessEvent(l.Payload.Type)
	}
	return !harmlessLine(l.Type)
}

// The kinds below are those of 0.169.0 that are no tools.

func harmlessLine(kind string) bool {
	switch kind {
	case "session_meta", "turn_context", "world_state", "compacted", "token_usage_record",
		"dynamic_tools_updated", "security_risk_score":
		return true
	}
	return false
}

func harmlessResponse(kind string) bool {
	switch kind {
	case "message", "reasoning", "additional_tools", "configuration_update",
		"compaction", "compaction_summary", "compaction_trigger", "context_compaction",
		"function_call_output", "custom_tool_call_output": // their call stands before them, and is the judge
		return true
	}
	return false
}

// harmlessTool reports whether a function changes nothing outside the conversation.
// codex tells of the plan as turn/plan/updated, not as an item. Those of MCP servers, whatever
// they are called, have a namespace.
func harmlessTool(namespace, name string) bool { return namespace == "" && name == "update_plan" }

func harmlessEvent(kind string) bool {
	switch kind {
	case "task_started", "task_complete", "turn_aborted", "token_count", "thread_settings_applied",
		"user_message", "agent_message", "agent_reasoning", "agent_reasoning_raw_content",
		"agent_reasoning_section_break", "context_compacted", "plan_update", "error", "warning",
		"stream_error", "model_reroute", "model_verification", "thread_goal_updated", "thread_queue_changed":
		return true
	}
	return false
}

// harmlessItem is appserver.ItemType.IsTool for the names that items have in this file.
func harmlessItem(kind string) bool {
	switch kind {
	case "UserMessage", "AgentMessage", "Reasoning", "Plan", "ContextCompaction", "HookPrompt":
		return true
	}
	return false
}

// head finds the two kinds of a line that is not whole. codex writes them first.
var head = regexp.MustCompile(`^\{"timestamp":"[^"]*"(?:,"ordinal":\d+)?,"type":"(\w+)","payload":\{(?:"type":"(\w+)")?`)

// torn judges a line that cannot be read: a write that was cut, perhaps with
// something behind it that a later codex has written. A tool of whose call not
// all was written has not run, but the call may be the one that was written
// whole before: only a line that begins as something harmless is passed over.
func (r *traceReader) torn(text []byte) {
	r.behind = true
	if quoted, err := json.Marshal(r.clientID); err == nil && bytes.Contains(text, quoted) {
		r.found, r.turn = true, r.current
	}
	var l rolloutLine
	if m := head.FindSubmatch(text); m != nil {
		l.Type, l.Payload.Type = string(m[1]), string(m[2])
		l.Payload.Item.Type = "UserMessage" // if it is an item_completed: its tool has its call before it
	}
	if l.isTool() {
		r.call(r.current, true)
	}
}
