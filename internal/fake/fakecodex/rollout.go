package fakecodex

import (
	"os"
	"path/filepath"
	"time"
)

// rollout is where a thread's rollout file is, in the form of codex 0.169.0;
// empty without a state directory.
func (s *server) rollout(t *thread) string {
	if s.dir == "" {
		return ""
	}
	if _, ok := s.step("no-rollout"); ok {
		return filepath.Join(s.dir, "elsewhere", t.ID+".jsonl")
	}
	return filepath.Join(s.dir, t.ID+".jsonl")
}

// logLocked adds a line to the rollout file of a thread: before what it tells of has
// any effect, as codex does.
func (s *server) logLocked(t *thread, kind string, payload object) {
	if s.dir == "" {
		return
	}
	line := encode(struct {
		Timestamp string `json:"timestamp"`
		Type      string `json:"type"`
		Payload   object `json:"payload"`
	}{time.Now().UTC().Format(time.RFC3339Nano), kind, payload})
	file, err := os.OpenFile(filepath.Join(s.dir, t.ID+".jsonl"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		fatal(70, "fakecodex: %v", err)
	}
	defer file.Close()
	if _, err := file.Write(line); err != nil {
		fatal(70, "fakecodex: %v", err)
	}
}

// logItemLocked adds a finished item.
func (s *server) logItemLocked(t *thread, turnID string, item object) {
	logged := object{"id": item["id"], "client_id": item["clientId"]}
	switch item["type"] {
	case "userMessage":
		logged["type"] = "UserMessage"
	case "agentMessage":
		logged["type"] = "AgentMessage"
	default:
		logged["type"] = "CommandExecution"
	}
	s.logLocked(t, "event_msg", object{"type": "item_completed", "turn_id": turnID, "item": logged})
}

// logCallLocked adds the call of a tool.
func (x *execution) logCallLocked() {
	x.s.logLocked(x.t, "response_item", object{
		"type": "function_call", "name": "exec_command", "call_id": x.started,
		"internal_chat_message_metadata_passthrough": object{"turn_id": x.turn.ID},
	})
}
