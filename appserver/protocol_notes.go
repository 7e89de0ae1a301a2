package appserver

// The methods of the notifications that the runtime reads.
const (
	NoteTurnStarted          = "turn/started"
	NoteTurnCompleted        = "turn/completed"
	NoteItemStarted          = "item/started"
	NoteItemCompleted        = "item/completed"
	NoteAgentMessageDelta    = "item/agentMessage/delta"
	NoteReasoningSummary     = "item/reasoning/summaryTextDelta"
	NoteCommandOutput        = "item/commandExecution/outputDelta"
	NoteFilePatch            = "item/fileChange/patchUpdated"
	NoteMcpProgress          = "item/mcpToolCall/progress"
	NotePlanUpdated          = "turn/plan/updated"
	NoteDiffUpdated          = "turn/diff/updated"
	NoteTokenUsage           = "thread/tokenUsage/updated"
	NoteThreadStatus         = "thread/status/changed"
	NoteThreadClosed         = "thread/closed"
	NoteThreadCompacted      = "thread/compacted"
	NoteError                = "error"
	NoteWarning              = "warning"
	NoteModelRerouted        = "model/rerouted"
	NoteAccountUpdated       = "account/updated"
	NoteRateLimits           = "account/rateLimits/updated"
	NoteRequestResolved      = "serverRequest/resolved"
	NoteMcpServerStatus      = "mcpServer/startupStatus/updated"
	NoteConfigWarning        = "configWarning"
	NoteDeprecation          = "deprecationNotice"
	NoteAccountLoginComplete = "account/login/completed"
)

// ItemNote is the body of item/started and item/completed.
type ItemNote struct {
	ThreadID string `json:"threadId"`
	TurnID   string `json:"turnId"`
	Item     Item   `json:"item"`
}

// DeltaNote is the body of the item/…/delta notifications.
type DeltaNote struct {
	TurnID string `json:"turnId"`
	ItemID string `json:"itemId"`
	Delta  string `json:"delta"`
}

// TurnNote is the body of turn/started and turn/completed.
type TurnNote struct {
	ThreadID string `json:"threadId"`
	Turn     Turn   `json:"turn"`
}

// PlanNote is the body of turn/plan/updated.
type PlanNote struct {
	ThreadID    string     `json:"threadId"`
	TurnID      string     `json:"turnId"`
	Explanation string     `json:"explanation,omitempty"`
	Plan        []PlanStep `json:"plan"`
}

// A PlanStep is one line of the agent's plan; Status is pending, inProgress or completed.
type PlanStep struct {
	Step   string `json:"step"`
	Status string `json:"status"`
}

// DiffNote is the body of turn/diff/updated: the unified diff of the whole turn so far.
type DiffNote struct {
	ThreadID string `json:"threadId"`
	TurnID   string `json:"turnId"`
	Diff     string `json:"diff"`
}

// UsageNote is the body of thread/tokenUsage/updated.
type UsageNote struct {
	ThreadID   string `json:"threadId"`
	TurnID     string `json:"turnId"`
	TokenUsage struct {
		Last  TokenUsage `json:"last"`
		Total TokenUsage `json:"total"`
		// ModelContextWindow is how many tokens the model reads, or 0 if codex does not know.
		ModelContextWindow int64 `json:"modelContextWindow"`
	} `json:"tokenUsage"`
}

// TokenUsage counts tokens.
type TokenUsage struct {
	InputTokens           int64 `json:"inputTokens"`
	CachedInputTokens     int64 `json:"cachedInputTokens"`
	OutputTokens          int64 `json:"outputTokens"`
	ReasoningOutputTokens int64 `json:"reasoningOutputTokens"`
	TotalTokens           int64 `json:"totalTokens"`
}

// ErrorNote is the body of the error notification. WillRetry means progress,
// not failure: turn/completed says how the turn ended.
type ErrorNote struct {
	ThreadID  string    `json:"threadId"`
	TurnID    string    `json:"turnId"`
	Error     TurnError `json:"error"`
	WillRetry bool      `json:"willRetry"`
}

// ThreadStatusNote is the body of thread/status/changed.
type ThreadStatusNote struct {
	ThreadID string       `json:"threadId"`
	Status   ThreadStatus `json:"status"`
}

// LoginNote is the body of account/login/completed. codex also says that a login
// failed when it was carried out, but the account could not be looked up.
type LoginNote struct {
	LoginID string `json:"loginId"`
	Success bool   `json:"success"`
	Error   string `json:"error"`
}

// LimitsNote is the body of account/rateLimits/updated. It may leave out what was
// said before.
type LimitsNote struct {
	RateLimits RateLimits `json:"rateLimits"`
}

// RateLimits is how much of an account's allowance is used.
type RateLimits struct {
	LimitID     string       `json:"limitId"`
	LimitName   string       `json:"limitName"`
	Primary     *LimitWindow `json:"primary"`
	Secondary   *LimitWindow `json:"secondary"`
	ReachedType string       `json:"rateLimitReachedType"`
}

// A LimitWindow is a span of time with an allowance. ResetsAt is in Unix seconds;
// 0 if it is not known.
type LimitWindow struct {
	UsedPercent        int   `json:"usedPercent"`
	WindowDurationMins int64 `json:"windowDurationMins"`
	ResetsAt           int64 `json:"resetsAt"`
}
