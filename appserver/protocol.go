package appserver

import "encoding/json"

// This file and its neighbours, protocol_….go, hold the part of the app-server
// protocol that the runtime uses, read from the schema that codex 0.169.0 prints
// (codex app-server generate-json-schema --experimental). Fields that the
// runtime does not use are left out; a test compares what is here with the
// schema of the installed codex, so that moving the pin shows what changed.

// A SandboxMode is the sandbox of a whole thread, as thread/start names it.
type SandboxMode string

// The sandbox modes of codex 0.169.0.
const (
	ReadOnly         SandboxMode = "read-only"
	WorkspaceWrite   SandboxMode = "workspace-write"
	DangerFullAccess SandboxMode = "danger-full-access"
)

// PolicyOf returns a mode as turn/start takes it, without anything that the
// user's configuration adds to it. The temp directory of all users is not writable
// in it, nor is codex's own where commands have others.
func PolicyOf(mode SandboxMode, temp []string) json.RawMessage {
	switch mode {
	case ReadOnly:
		return json.RawMessage(`{"type":"readOnly"}`)
	case WorkspaceWrite:
		if len(temp) == 0 {
			return json.RawMessage(`{"type":"workspaceWrite","excludeSlashTmp":true}`)
		}
		policy, _ := json.Marshal(map[string]any{ // of texts, it does not fail
			"type": "workspaceWrite", "excludeSlashTmp": true, "excludeTmpdirEnvVar": true, "writableRoots": temp,
		})
		return policy
	case DangerFullAccess:
		return json.RawMessage(`{"type":"dangerFullAccess"}`)
	}
	return nil
}

// An ApprovalPolicy says when codex asks before it acts.
type ApprovalPolicy string

// The approval policies of codex 0.169.0 that are plain strings.
const (
	Untrusted ApprovalPolicy = "untrusted"
	OnRequest ApprovalPolicy = "on-request"
	Never     ApprovalPolicy = "never"
)

// ThreadStartParams opens a new thread. Empty fields take codex's defaults.
type ThreadStartParams struct {
	Model                 string         `json:"model,omitempty"`
	ModelProvider         string         `json:"modelProvider,omitempty"`
	Cwd                   string         `json:"cwd,omitempty"`
	ApprovalPolicy        ApprovalPolicy `json:"approvalPolicy,omitempty"`
	ApprovalsReviewer     string         `json:"approvalsReviewer,omitempty"` // "user": configuration can otherwise redirect approvals
	Sandbox               SandboxMode    `json:"sandbox,omitempty"`
	DeveloperInstructions string         `json:"developerInstructions,omitempty"`
	Config                map[string]any `json:"config,omitempty"`
	ServiceName           string         `json:"serviceName,omitempty"`
	Ephemeral             bool           `json:"ephemeral,omitempty"` // nothing of it is written down
	DynamicTools          []DynamicTool  `json:"dynamicTools,omitempty"`

	Environments []TurnEnvironment `json:"-"` // where its commands run; none is this machine
}

// A DynamicTool is a tool of the client's that the model of a thread can call: the
// call comes as a request, item/tool/call. A thread keeps the tools that it was
// started with, also when another process resumes it.
type DynamicTool struct {
	Type        string          `json:"type"` // "function"
	Name        string          `json:"name"` // of letters, digits, _ and -; names that begin with mcp__ are codex's own
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

// MethodToolCall is the method of a request that calls a [DynamicTool].
const MethodToolCall = "item/tool/call"

// ToolCallParams is the body of a call.
type ToolCallParams struct {
	ThreadID  string          `json:"threadId"`
	TurnID    string          `json:"turnId"`
	CallID    string          `json:"callId"` // also the id of the call's item
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

// A ToolCallResult is the answer. The model reads the text also of one that has failed.
type ToolCallResult struct {
	Success bool              `json:"success"`
	Content []ToolCallContent `json:"contentItems"`
}

// A ToolCallContent is a piece of an answer.
type ToolCallContent struct {
	Type string `json:"type"` // "inputText"
	Text string `json:"text"`
}

// ThreadResumeParams loads a thread from disk, or subscribes to it again.
type ThreadResumeParams struct {
	ThreadID          string         `json:"threadId"`
	ExcludeTurns      bool           `json:"excludeTurns,omitempty"` // without it the whole history comes back in one line
	Model             string         `json:"model,omitempty"`
	ModelProvider     string         `json:"modelProvider,omitempty"`
	Cwd               string         `json:"cwd,omitempty"`
	ApprovalPolicy    ApprovalPolicy `json:"approvalPolicy,omitempty"`
	ApprovalsReviewer string         `json:"approvalsReviewer,omitempty"`
	Sandbox           SandboxMode    `json:"sandbox,omitempty"`
	// DeveloperInstructions take the place of those that the thread was started with.
	DeveloperInstructions string         `json:"developerInstructions,omitempty"`
	Config                map[string]any `json:"config,omitempty"`
}

// ThreadForkParams opens a thread with the history of another one. Unlike a resume it
// may change the model provider, also of a thread whose own is not configured any more.
type ThreadForkParams struct {
	ThreadID              string         `json:"threadId"` // the other one
	ExcludeTurns          bool           `json:"excludeTurns,omitempty"`
	Model                 string         `json:"model,omitempty"`
	ModelProvider         string         `json:"modelProvider,omitempty"`
	Cwd                   string         `json:"cwd,omitempty"`
	ApprovalPolicy        ApprovalPolicy `json:"approvalPolicy,omitempty"`
	ApprovalsReviewer     string         `json:"approvalsReviewer,omitempty"`
	Sandbox               SandboxMode    `json:"sandbox,omitempty"`
	DeveloperInstructions string         `json:"developerInstructions,omitempty"`
	Config                map[string]any `json:"config,omitempty"`
}

// A ThreadSession is the answer of thread/start, thread/resume and thread/fork.
type ThreadSession struct {
	Thread        Thread `json:"thread"`
	Model         string `json:"model"`
	ModelProvider string `json:"modelProvider"`
	Cwd           string `json:"cwd"`
	// Sandbox is what the sandbox mode came to with the user's configuration, in
	// the form that turn/start takes.
	Sandbox        json.RawMessage `json:"sandbox,omitempty"`
	ApprovalPolicy json.RawMessage `json:"approvalPolicy,omitempty"` // a string, or an object that says what is asked
}

// May reports whether the thread is loaded with a policy and a sandbox. One that codex had loaded
// already, and somebody follows, keeps what it was loaded with, whatever a resume asks for (seen on
// 0.169.0).
func (s ThreadSession) May(policy ApprovalPolicy, mode SandboxMode) bool {
	var has ApprovalPolicy
	if json.Unmarshal(s.ApprovalPolicy, &has) == nil && policy != "" && has != policy {
		return false
	}
	asked, got := sandboxType(PolicyOf(mode, nil)), sandboxType(s.Sandbox)
	return asked == "" || got == "" || got == asked
}

func sandboxType(policy json.RawMessage) string {
	var sandbox struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(policy, &sandbox) // what is no object has no type
	return sandbox.Type
}

// A Thread is a codex conversation.
type Thread struct {
	ID     string       `json:"id"`
	Path   string       `json:"path,omitempty"` // the rollout file; empty for an ephemeral thread
	Status ThreadStatus `json:"status,omitzero"`
	Turns  []Turn       `json:"turns,omitempty"`
	// SessionID is the thread that the conversation began with: of a subagent's thread,
	// that of its parent.
	SessionID string `json:"sessionId,omitempty"`
}

// A ThreadStatus is what a thread is doing: notLoaded, idle, systemError or active.
type ThreadStatus struct {
	Type        string   `json:"type"`
	ActiveFlags []string `json:"activeFlags,omitempty"`
}

// A BackgroundTerminal is a command that outlived its tool call.
type BackgroundTerminal struct {
	ItemID    string `json:"itemId"`
	ProcessID string `json:"processId"`
	Command   string `json:"command"`
	Cwd       string `json:"cwd"`
	OSPid     *int   `json:"osPid,omitempty"`
}

// An Account is the login that codex would use.
type Account struct {
	Type     string `json:"type"` // apiKey, chatgpt, …
	Email    string `json:"email,omitempty"`
	PlanType string `json:"planType,omitempty"`
}

// AccountStatus is the answer of account/read. Account is nil when codex has
// no login of its own, which is fine for a provider that asks for none.
type AccountStatus struct {
	Account            *Account `json:"account"`
	RequiresOpenaiAuth bool     `json:"requiresOpenaiAuth"`
}
