package fakemodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// A Request is what codex asked the model, as far as scripts and tests look at it.
//
// Tools has the names of the tools, in their order; a tool without a name, such
// as web_search, goes by its type, one of a namespace by "namespace.name". For
// most of its models codex 0.169.0 wraps its own tools into one, named exec,
// that runs JavaScript; what can be called from there follows it as
// "exec:name". Codex carries out a direct call of such a tool all the same.
type Request struct {
	Model        string
	Headers      http.Header
	Instructions string   // the base instructions
	Tools        []string // the tools on offer, see below
	Body         []byte   // all of it, as JSON
	Input        []Item   // the conversation so far, oldest first
	Socket       bool     // it came by a WebSocket; Body is what it would have been over HTTP
	Sent         int      // bytes on the wire
}

// An Item is one entry of the conversation in a request. Which fields are set
// depends on Type.
type Item struct {
	Type string // message, function_call, function_call_output, custom_tool_call, reasoning, …
	Role string // message: user, developer or assistant
	To   string // agent_message: the agent that it is for
	Text string // message: its text parts, joined by line breaks; an output: its text

	CallID string // a tool call, and its output
	Name   string // a tool call
	Args   string // a tool call: its arguments, as JSON or, for a custom tool, as they are
}

// A ToolOutput is what came back from one tool call.
type ToolOutput struct{ CallID, Text string }

// openers are how the messages begin that codex itself puts into the
// conversation in the user's name.
var openers = []string{
	"<environment_context>", "# AGENTS.md instructions", "<user_instructions>",
	"<turn_aborted>", "<skill>", "<user_shell_command>", "<subagent_notification>",
	"<recommended_plugins>",
}

// parseRequest reads the body of POST /v1/responses.
func parseRequest(header http.Header, body []byte) (Request, error) {
	var wire struct {
		Model        string     `json:"model"`
		Instructions string     `json:"instructions"`
		Input        []wireItem `json:"input"`
		Tools        []wireTool `json:"tools"`
	}
	if err := json.Unmarshal(body, &wire); err != nil {
		return Request{}, fmt.Errorf("read the request of codex: %w", err)
	}
	r := Request{Model: wire.Model, Headers: header, Instructions: wire.Instructions, Body: body, Sent: len(body)}
	r.Tools = toolNames(nil, wire.Tools, "")
	for i := range wire.Input {
		r.Tools = toolNames(r.Tools, wire.Input[i].Tools, "")
		r.Input = append(r.Input, wire.Input[i].item())
	}
	return r, nil
}

// A wireTool is a tool, or a namespace of tools, on the wire.
type wireTool struct {
	Type        string     `json:"type"`
	Name        string     `json:"name"`
	Description string     `json:"description"`
	Tools       []wireTool `json:"tools"`
}

// nested finds the tools that the description of exec declares.
var nested = regexp.MustCompile("(?m)^### `([^`]+)`")

func toolNames(names []string, tools []wireTool, space string) []string {
	for _, tool := range tools {
		name := tool.Name
		if name == "" {
			name = tool.Type
		}
		switch {
		case tool.Type == "namespace" && name == "functions": // the namespace of all that has none
			names = toolNames(names, tool.Tools, "")
			continue
		case tool.Type == "namespace":
			names = toolNames(names, tool.Tools, name+".")
			continue
		}
		names = append(names, space+name)
		if name == "exec" {
			for _, match := range nested.FindAllStringSubmatch(tool.Description, -1) {
				names = append(names, "exec:"+match[1])
			}
		}
	}
	return names
}

// A wireItem is an entry of input on the wire.
type wireItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Recipient string          `json:"recipient"` // agent_message: the name of an agent
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Input     string          `json:"input"`
	Output    json.RawMessage `json:"output"`
	Tools     []wireTool      `json:"tools"` // additional_tools: where codex puts them for its newer models
}

func (w *wireItem) item() Item {
	it := Item{Type: w.Type, Role: w.Role, To: w.Recipient, CallID: w.CallID, Name: w.Name, Args: w.Arguments + w.Input}
	if it.Type == "" && it.Role != "" {
		it.Type = "message" // the API lets a message leave its type out
	}
	if it.isOutput() {
		it.Text = joinText(w.Output)
	} else {
		it.Text = joinText(w.Content)
	}
	return it
}

// joinText reads what the API allows to be a string or a list of parts.
func joinText(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return string(raw)
	}
	texts := make([]string, 0, len(parts))
	for _, p := range parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func (it Item) isOutput() bool {
	return it.Type == "function_call_output" || it.Type == "custom_tool_call_output"
}

// fromUser reports whether a person, rather than codex, wrote the item.
func (it Item) fromUser() bool {
	if it.Type != "message" || it.Role != "user" {
		return false
	}
	text := strings.TrimSpace(it.Text)
	for _, opener := range openers {
		if strings.HasPrefix(text, opener) {
			return false
		}
	}
	return true
}

// UserTexts returns what the user said in this conversation, oldest first,
// without the messages that codex adds in the user's name.
func (r *Request) UserTexts() []string {
	var texts []string
	for _, it := range r.Input {
		if it.fromUser() {
			texts = append(texts, it.Text)
		}
	}
	return texts
}

// LastUserText returns what the user said last, or "".
func (r *Request) LastUserText() string {
	if at := r.lastUser(); at >= 0 {
		return r.Input[at].Text
	}
	return ""
}

func (r *Request) lastUser() int {
	for i, v := range slices.Backward(r.Input) {
		if v.fromUser() {
			return i
		}
	}
	return -1
}

// DeveloperTexts returns the developer messages of this conversation, oldest first.
func (r *Request) DeveloperTexts() []string {
	var texts []string
	for _, it := range r.Input {
		if it.Type == "message" && it.Role == "developer" {
			texts = append(texts, it.Text)
		}
	}
	return texts
}

// ToolOutputs returns the output of every tool call of this conversation by call id.
func (r *Request) ToolOutputs() map[string]string {
	outputs := map[string]string{}
	for _, it := range r.Input {
		if it.isOutput() {
			outputs[it.CallID] = it.Text
		}
	}
	return outputs
}

// FromSubagent reports whether a subagent makes the request: it has been given a task by another agent. What it
// has of the conversation before that differs between versions of codex, as do the words around it.
func (r *Request) FromSubagent() bool { return r.lastTask() >= 0 }

func (r *Request) lastTask() int {
	for i, v := range slices.Backward(r.Input) {
		if v.Type == "agent_message" && strings.HasPrefix(v.To, "/root/") {
			return i
		}
	}
	return -1
}

// NewToolOutputs returns the tool outputs that came after the user's last
// words, or the last task of a subagent, oldest first: none in the first request of a turn.
func (r *Request) NewToolOutputs() []ToolOutput {
	var outputs []ToolOutput
	for _, it := range r.Input[max(r.lastUser(), r.lastTask())+1:] {
		if it.isOutput() {
			outputs = append(outputs, ToolOutput{CallID: it.CallID, Text: it.Text})
		}
	}
	return outputs
}

// Offers reports whether codex offers a tool of that name, directly or within exec.
func (r *Request) Offers(tool string) bool {
	return slices.Contains(r.Tools, tool) || slices.Contains(r.Tools, "exec:"+tool)
}
