package fakemodel

import (
	"encoding/json"
	"strings"
)

// The tools of codex that scripts use, as codex 0.169.0 names them.
const (
	toolExec  = "exec_command"
	toolStdin = "write_stdin"
	toolPatch = "apply_patch"
	toolPlan  = "update_plan"
)

// Call sends a call of a function tool and returns its call id. Its output
// comes back in the next request.
func (t *Turn) Call(name, argsJSON string) (callID string) {
	return t.call(t.id("call"), map[string]any{"type": "function_call", "name": name, "arguments": argsJSON})
}

// CallIn is [Turn.Call] of a tool in a namespace: one of an MCP server's.
func (t *Turn) CallIn(namespace, name, argsJSON string) (callID string) {
	return t.call(t.id("call"), map[string]any{
		"type": "function_call", "namespace": namespace, "name": name, "arguments": argsJSON,
	})
}

// CallAs is [Turn.CallIn] with a call id of the script's choice, as an endpoint may choose any. The
// namespace may be empty.
func (t *Turn) CallAs(callID, namespace, name, argsJSON string) {
	item := map[string]any{"type": "function_call", "name": name, "arguments": argsJSON}
	if namespace != "" {
		item["namespace"] = namespace
	}
	t.call(callID, item)
}

// CallCustom sends a call of a custom (free-form) tool and returns its call id.
func (t *Turn) CallCustom(name, input string) (callID string) {
	return t.call(t.id("call"), map[string]any{"type": "custom_tool_call", "name": name, "input": input})
}

func (t *Turn) call(callID string, item map[string]any) string {
	t.EndMessage("")
	t.begin()
	item["id"] = t.id("fc")
	item["call_id"] = callID
	item["status"] = "completed"
	t.event("response.output_item.added", map[string]any{"output_index": t.items, "item": item})
	t.done(item)
	return callID
}

// Exec calls codex's shell tool and returns the call id.
func (t *Turn) Exec(cmd string) (callID string) {
	return t.Call(toolExec, shell(cmd))
}

// ExecAs is [Turn.Exec] with a call id of the script's choice.
func (t *Turn) ExecAs(callID, cmd string) { t.CallAs(callID, "", toolExec, shell(cmd)) }

func shell(cmd string) string { return marshal(map[string]any{"cmd": cmd}) }

// AddFile is the text of a patch, for [Turn.ApplyPatch], that creates a file.
func AddFile(path, content string) string {
	var b strings.Builder
	b.WriteString("*** Begin Patch\n*** Add File: " + path + "\n")
	for line := range strings.Lines(content) {
		b.WriteString("+" + strings.TrimSuffix(line, "\n") + "\n")
	}
	b.WriteString("*** End Patch\n")
	return b.String()
}

// ApplyPatch changes files as the patch says, in codex's own format, and
// returns the call id. For a model that codex does not know it offers no tool
// for that; there the patch goes through the shell, where codex looks for it.
func (t *Turn) ApplyPatch(patch string) (callID string) {
	if t.Offers(toolPatch) {
		return t.CallCustom(toolPatch, patch)
	}
	return t.Exec(PatchCommand(patch))
}

// PatchCommand is the command that codex takes for the patch.
func PatchCommand(patch string) string {
	return "apply_patch <<'END_OF_PATCH'\n" + patch + "END_OF_PATCH"
}

// A Step is one line of a plan. Status is pending, in_progress or completed.
type Step struct {
	Step   string `json:"step"`
	Status string `json:"status"`
}

// Plan calls codex's plan tool and returns the call id. Codex refuses the call
// unless tools.update_plan.enabled is set.
func (t *Turn) Plan(steps []Step) (callID string) {
	return t.Call(toolPlan, marshal(map[string]any{"plan": steps}))
}

func marshal(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic("fakemodel: " + err.Error()) // only values of our own come here
	}
	return string(data)
}
