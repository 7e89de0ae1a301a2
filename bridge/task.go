package bridge

import (
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// The statuses of tasks.
const (
	Starting        = "starting" // accepted, and its turn has not begun
	Working         = "working"
	WaitingApproval = "waiting_for_approval"
	WaitingInput    = "waiting_for_user_input"
	Completed       = "completed"
	Failed          = "failed"
	Cancelled       = "cancelled"
)

// Lengths of what answers say in short, in characters.
const (
	nameLength     = 60
	promptLength   = 300
	progressLength = 300
	finalLength    = 500
	errorLength    = 500
	eventLength    = 1200
)

// A Task is what answers say of one. Fields that are nil are null in JSON: they are
// always there.
type Task struct {
	TaskID       string  `json:"task_id"`
	HermesTaskID string  `json:"hermes_task_id"`
	Status       string  `json:"status"`
	ThreadID     *string `json:"codex_thread_id"`
	TurnID       *string `json:"codex_turn_id"`

	FromAgent      *string `json:"from_agent"` // the conversation with the other agent whose words the prompt is
	Prompt         string  `json:"prompt_summary"`
	Cwd            *string `json:"cwd"`
	Model          *string `json:"model"`
	Sandbox        *string `json:"sandbox"`
	ApprovalPolicy *string `json:"approval_policy"`
	DegradedMode   string  `json:"degraded_mode"` // none, or history_lost when the conversation's thread was

	LastProgress *string `json:"last_progress_summary"`
	Final        *string `json:"final_summary"`
	Error        *string `json:"error_summary"`

	NotifyTarget       *string  `json:"notify_target"`
	NotificationStatus *string  `json:"notification_status"`
	NotifiedAt         *float64 `json:"notified_at"`
	NotificationError  *string  `json:"notification_error"`

	CreatedAt   float64  `json:"created_at"`
	UpdatedAt   float64  `json:"updated_at"`
	CompletedAt *float64 `json:"completed_at"`

	Pending []Question `json:"pending_requests"`
	Recent  []Progress `json:"recent_events,omitzero"` // in answers to status
	// Active is false for a task that has ended: it is known from the runtime's
	// store, and nothing can be said to it any more.
	Active *bool `json:"active_connection,omitempty"`

	A2ATaskID string `json:"a2a_task_id"`
	ContextID string `json:"context_id"`
}

// Keys of metadata, as docs/messages.md has them, and one of ours.
const (
	keyCwd          = "cwd"
	keyModel        = "model"
	keySandbox      = "sandbox"
	keyPolicy       = "approvalPolicy"
	keyNotify       = "notifyTarget"
	keyNotification = "notification"
	keyReply        = "reply"
	keyTurn         = "turn"
	keyAhead        = "ahead"
	keyThreadID     = "threadId"
	keyTurnID       = "turnId"
	keyReplaced     = "threadReplaced"
	keyModelCalls   = "modelCalls"
	keyUsage        = "usage"
	keyFailure      = "failure"
	keyHeld         = "held"
	keyAttempt      = "attempt"
	keyInterrupted  = "interrupted"

	keyBridge = "bridge"

	keyCreated = "createdAt" // of the bridge's first message
)

// peerPrefix begins the names of conversations with other agents, as docs/messages.md
// has them.
const peerPrefix = "peer:"

// taskOf makes what is said of an A2A task.
func taskOf(t *a2a.Task) *Task {
	name := nameOf(t)
	out := &Task{
		TaskID: name, HermesTaskID: name, A2ATaskID: string(t.ID), ContextID: t.ContextID,
		Status: statusOf(t), DegradedMode: "none",
		ThreadID: text(t.Metadata, keyThreadID), TurnID: text(t.Metadata, keyTurnID),
		UpdatedAt: seconds(t.Status.Timestamp), Pending: Questions(t.Status),
	}
	if strings.HasPrefix(t.ContextID, peerPrefix) {
		out.FromAgent = &out.ContextID
	}
	if t.Metadata[keyReplaced] == true {
		out.DegradedMode = "history_lost"
	}
	out.CreatedAt = out.UpdatedAt
	if len(t.History) > 0 {
		out.describe(t.History[0])
	}
	if cwd := text(t.Metadata, keyCwd); cwd != nil { // where its turn runs in truth
		out.Cwd = cwd
	}
	out.notification(t.Metadata)
	if t.Status.State.Terminal() {
		out.CompletedAt = &out.UpdatedAt
		out.ending(t)
	}
	return out
}

// describe says what was asked for.
func (t *Task) describe(m *a2a.Message) {
	t.Prompt = Said(m)
	if t.FromAgent != nil {
		t.Prompt = "[another agent, " + brief.Line(*t.FromAgent, nameLength) + "] " + t.Prompt
	}
	t.Prompt = brief.Line(t.Prompt, promptLength)
	t.Cwd, t.Model = text(m.Metadata, keyCwd), text(m.Metadata, keyModel)
	t.Sandbox, t.ApprovalPolicy = text(m.Metadata, keySandbox), text(m.Metadata, keyPolicy)
	if at := text(m.Metadata, keyCreated); at != nil {
		if created, err := time.Parse(time.RFC3339Nano, *at); err == nil {
			t.CreatedAt = seconds(&created)
		}
	}
}

func (t *Task) notification(meta map[string]any) {
	n, _ := meta[keyNotification].(map[string]any)
	if target := text(n, "target"); target != nil && *target != "" {
		t.NotifyTarget = target
	}
	t.NotificationStatus, t.NotificationError = text(n, "status"), text(n, "error")
	if at := text(n, "notifiedAt"); at != nil {
		if notified, err := time.Parse(time.RFC3339Nano, *at); err == nil {
			s := seconds(&notified)
			t.NotifiedAt = &s
		}
	}
}

// ending says how the task ended.
func (t *Task) ending(of *a2a.Task) {
	why := Said(of.Status.Message)
	switch t.Status {
	case Completed:
		t.Final = short(orElse(replyOf(of), why), finalLength)
	case Failed:
		t.Error = short(orElse(why, "the task failed without saying why"), errorLength)
		t.Final = short(replyOf(of), finalLength)
	}
}

// statusOf is the state of an A2A task in the bridge's words. What was cut off has
// failed: only what is said to be completed is.
func statusOf(t *a2a.Task) string {
	switch t.Status.State {
	case a2a.TaskStateSubmitted, a2a.TaskStateUnspecified:
		return Starting
	case a2a.TaskStateWorking:
		return Working
	case a2a.TaskStateInputRequired:
		for _, q := range Questions(t.Status) {
			return q.waits()
		}
		return WaitingInput
	case a2a.TaskStateAuthRequired:
		return WaitingInput // somebody has to log in
	case a2a.TaskStateCompleted:
		return Completed
	case a2a.TaskStateCanceled:
		return Cancelled
	}
	return Failed
}

// replyOf is the text of the artifact that is the reply.
func replyOf(t *a2a.Task) string {
	id, _ := t.Metadata[keyReply].(string)
	for _, a := range t.Artifacts {
		if id != "" && string(a.ID) == id {
			return Text(a.Parts)
		}
	}
	return ""
}

// Said is what a message says; nil says nothing.
func Said(m *a2a.Message) string {
	if m == nil {
		return ""
	}
	return Text(m.Parts)
}

// Text is that of parts, one behind the other.
func Text(parts a2a.ContentParts) string {
	var all strings.Builder
	for _, p := range parts {
		if p != nil {
			all.WriteString(p.Text())
		}
	}
	return all.String()
}

// text returns what a key holds, nil if that is no text.
func text(meta map[string]any, key string) *string {
	if s, ok := meta[key].(string); ok {
		return &s
	}
	return nil
}

// short is a summary; nil stands for nothing.
func short(s string, n int) *string {
	if s = brief.Line(s, n); s == "" {
		return nil
	}
	return &s
}

func orElse(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

// seconds is a time as the tool gives it: in seconds since 1970.
func seconds(t *time.Time) float64 {
	if t == nil {
		return 0
	}
	return float64(t.UnixMicro()) / 1e6
}
