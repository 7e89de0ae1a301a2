package appserver

import "encoding/json"

// A TurnStatus is where a turn stands.
type TurnStatus string

// The turn states of codex 0.169.0.
const (
	TurnCompleted   TurnStatus = "completed"
	TurnInterrupted TurnStatus = "interrupted"
	TurnFailed      TurnStatus = "failed"
	TurnInProgress  TurnStatus = "inProgress"
)

// A Turn is one round of work on a thread, from a user's message to its end.
type Turn struct {
	ID        string     `json:"id"`
	Status    TurnStatus `json:"status"`
	Error     *TurnError `json:"error,omitempty"`
	Items     []Item     `json:"items"`
	ItemsView string     `json:"itemsView,omitempty"` // "summary" shows agent messages only, "full" all
	// RootTurnID is the turn on whose behalf a subagent works; of another turn its own.
	RootTurnID string `json:"rootTurnId,omitempty"`
}

// A TurnError says why a turn failed.
type TurnError struct {
	Message           string          `json:"message"`
	CodexErrorInfo    json.RawMessage `json:"codexErrorInfo,omitempty"` // a string, or an object with one member; see [TurnError.Code]
	AdditionalDetails string          `json:"additionalDetails,omitempty"`
}

// Code returns codex's name for the error ("usageLimitExceeded",
// "httpConnectionFailed", …) and the HTTP status of the model provider, 0
// where there is none. Both are empty when codex gave no detail.
func (e *TurnError) Code() (name string, httpStatus int) {
	if json.Unmarshal(e.CodexErrorInfo, &name) == nil {
		return name, 0
	}
	var object map[string]struct {
		HTTPStatusCode int `json:"httpStatusCode"`
	}
	if json.Unmarshal(e.CodexErrorInfo, &object) != nil {
		return "", 0
	}
	for key, value := range object {
		return key, value.HTTPStatusCode
	}
	return "", 0
}

// A UserInput is one piece of what a turn is given. Type is text, image (by
// URL) or localImage (by path); input_image is refused by codex.
type UserInput struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"`
	URL  string `json:"url,omitempty"`
	Path string `json:"path,omitempty"`
}

// Text returns a text input.
func Text(s string) UserInput { return UserInput{Type: "text", Text: s} }

// TurnStartParams starts a turn. On a thread that has an active turn codex
// folds the input into that turn instead: callers hold a lock per thread. Cwd,
// WorkspaceRoots, Model, ApprovalPolicy and SandboxPolicy hold for the turns after it,
// too, until another one says otherwise; the model does so over a resume.
type TurnStartParams struct {
	ThreadID            string                       `json:"threadId"`
	Input               []UserInput                  `json:"input"`
	ClientUserMessageID string                       `json:"clientUserMessageId,omitempty"`
	Cwd                 string                       `json:"cwd,omitempty"`
	WorkspaceRoots      []string                     `json:"runtimeWorkspaceRoots,omitempty"` // writable in workspace-write; without them Cwd becomes the one
	Model               string                       `json:"model,omitempty"`
	Effort              string                       `json:"effort,omitempty"`
	ApprovalPolicy      ApprovalPolicy               `json:"approvalPolicy,omitempty"`
	SandboxPolicy       json.RawMessage              `json:"sandboxPolicy,omitempty"`     // of [PolicyOf], or of a [ThreadSession]
	AdditionalContext   map[string]AdditionalContext `json:"additionalContext,omitempty"` // keyed by source, [a-z][a-z0-9_]*

	Environments []TurnEnvironment `json:"-"` // where commands run from now on; none is where they did
	Trace        TraceContext      `json:"-"` // that the turn is part of; it stands beside the params
}

// A TraceContext is a place in a distributed trace, by W3C Trace Context; the zero value is none.
// codex makes its own spans below it, if it is set up to export them, and sends a
// traceparent of the same trace to the model's provider.
type TraceContext struct {
	Parent string `json:"traceparent"`
	State  string `json:"tracestate,omitempty"`
}

// AdditionalContext is text for the model beside the user's own. Kind is
// application (a developer message) or untrusted (a tool output).
type AdditionalContext struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

// TurnSteerParams adds input to the running turn ExpectedTurnID.
type TurnSteerParams struct {
	ThreadID            string      `json:"threadId"`
	ExpectedTurnID      string      `json:"expectedTurnId"`
	Input               []UserInput `json:"input"`
	ClientUserMessageID string      `json:"clientUserMessageId,omitempty"`
}
