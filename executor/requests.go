package executor

import (
	"context"
	"encoding/json"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// unread returns the notifications that nobody reads; codex is asked not to send them.
func unread() []string {
	return []string{
		"thread/name/updated",
		"thread/goal/updated",
		"rawResponseItem/completed",
		"item/reasoning/textDelta",
		"fs/changed",
		"skills/changed",
		"app/list/updated",
	}
}

// childConfig completes the configuration of the child with our ears.
func (e *Executor) childConfig() appserver.Config {
	cfg := e.cfg.Child
	cfg.OptOut = append(cfg.OptOut, unread()...)
	cfg.OnRequest = e.answer
	cfg.OnGlobal = e.global
	cfg.Logger = e.log
	return cfg
}

// answer replies to a request of codex. Every request is answered: one that is
// left open holds its thread for ever. Nobody can be asked yet, so whatever
// asks for leave is declined, except where the operator has given all of it.
func (e *Executor) answer(_ context.Context, req *appserver.Request) {
	var err error
	switch req.Method {
	case "item/commandExecution/requestApproval", "item/fileChange/requestApproval":
		err = req.Reply(map[string]any{"decision": e.decision()})
	case "item/permissions/requestApproval":
		err = req.Reply(map[string]any{"permissions": e.permissions(req.Params), "scope": "turn"})
	case "item/tool/requestUserInput":
		err = req.Reply(map[string]any{"answers": map[string]any{}})
	case "mcpServer/elicitation/request":
		err = req.Reply(map[string]any{"action": "decline", "content": nil})
	case "item/tool/call":
		err = req.Reply(map[string]any{"success": false, "contentItems": []any{
			map[string]any{"type": "inputText", "text": "this tool is not offered by the runtime"},
		}})
	case "currentTime/read":
		err = req.Reply(map[string]any{"currentTimeAt": time.Now().Unix()})
	default:
		err = req.Refuse(appserver.CodeMethodNotFound, "method not offered by this client: "+req.Method)
	}
	e.log.Info("codex asked and was answered", "method", req.Method, "thread_id", req.ThreadID, "err", err)
}

// everythingAllowed reports whether the operator has told codex to do
// everything without asking, in which case a question only comes by mistake.
func (e *Executor) everythingAllowed() bool {
	return e.cfg.Thread.ApprovalPolicy == appserver.Never && e.cfg.Thread.Sandbox == appserver.DangerFullAccess
}

func (e *Executor) decision() string {
	if e.everythingAllowed() {
		return "accept"
	}
	return "decline"
}

// permissions grants what was asked for, or nothing.
func (e *Executor) permissions(params json.RawMessage) any {
	var asked struct {
		Permissions json.RawMessage `json:"permissions"`
	}
	if e.everythingAllowed() && json.Unmarshal(params, &asked) == nil && asked.Permissions != nil {
		return asked.Permissions
	}
	return map[string]any{}
}

// global takes what belongs to no thread that we follow: the account, and the
// threads of subagents, whose output must not mix with ours.
func (e *Executor) global(note appserver.Notification) {
	switch note.Method {
	case appserver.NoteConfigWarning, appserver.NoteDeprecation:
		e.log.Warn("codex warns", "method", note.Method, "params", e.cfg.Redact(string(note.Params)))
	case appserver.NoteRateLimits:
		if err := e.limits.take(note, e.cfg.Metrics); err != nil {
			e.log.Warn("a notification of codex could not be read", "method", note.Method, "err", err)
		}
	case appserver.NoteAccountUpdated, appserver.NoteAccountLoginComplete:
		e.accountNote(note)
	case appserver.NoteMcpServerStatus:
		e.log.Info("an MCP server changed its state", "params", e.cfg.Redact(string(note.Params)))
	}
}
