package appserver

// A promise is one thing of the protocol that the runtime goes by: a message, and what of it is written or
// read.
type promise struct {
	method string
	params typed
	answer typed  // of a call
	lesser string // what there is less without it; empty where no turn can do without it
}

// typed is a type of the schema, and what of it is used.
type typed struct {
	name string // of its file; empty where nothing of it is used
	uses any
}

// promisedCalls are what the runtime calls. No schema names getAuthStatus, which codex answers all the same.
func promisedCalls() []promise {
	v2 := func(method, params string, sent any, answer string, read any, lesser string) promise {
		p := promise{method: method, params: typed{"v2/" + params, sent}, lesser: lesser}
		if answer != "" {
			p.answer = typed{"v2/" + answer, read}
		}
		return p
	}
	return []promise{
		{"initialize", typed{"v1/InitializeParams", initializeParams{}}, typed{"v1/InitializeResponse", ServerInfo{}}, ""},
		v2("thread/start", "ThreadStartParams", ThreadStartParams{}, "ThreadStartResponse", ThreadSession{}, ""),
		v2("thread/resume", "ThreadResumeParams", ThreadResumeParams{}, "ThreadResumeResponse", ThreadSession{}, ""),
		v2("thread/fork", "ThreadForkParams", ThreadForkParams{}, "ThreadForkResponse", ThreadSession{}, ""),
		v2("thread/read", "ThreadReadParams", threadParams{}, "ThreadReadResponse", readAnswer{}, ""),
		v2("thread/loaded/list", "ThreadLoadedListParams", struct{}{}, "ThreadLoadedListResponse", loadedAnswer{}, ""),
		v2("thread/turns/list", "ThreadTurnsListParams", turnsParams{}, "ThreadTurnsListResponse", turnsPage{}, ""),
		v2("thread/unsubscribe", "ThreadUnsubscribeParams", threadParams{}, "", nil, ""),
		v2("thread/archive", "ThreadArchiveParams", threadParams{}, "", nil, ""),
		v2("thread/unarchive", "ThreadUnarchiveParams", threadParams{}, "", nil, ""),
		v2("thread/revert", "ThreadRevertParams", revertParams{}, "ThreadRevertResponse", revertAnswer{}, ""),
		v2("thread/backgroundTerminals/list", "ThreadBackgroundTerminalsListParams", terminalsParams{}, "ThreadBackgroundTerminalsListResponse", terminalsPage{}, ""),
		v2("thread/backgroundTerminals/terminate", "ThreadBackgroundTerminalsTerminateParams", terminateParams{}, "ThreadBackgroundTerminalsTerminateResponse", terminateAnswer{}, ""),
		v2("thread/queue/list", "ThreadQueueListParams", queuedParams{}, "ThreadQueueListResponse", queuedPage{}, ""),
		v2("thread/queue/delete", "ThreadQueueDeleteParams", unqueueParams{}, "", nil, ""),
		v2("turn/start", "TurnStartParams", TurnStartParams{}, "TurnStartResponse", turnAnswer{}, ""),
		v2("turn/steer", "TurnSteerParams", TurnSteerParams{}, "", nil, ""),
		v2("turn/interrupt", "TurnInterruptParams", interruptParams{}, "", nil, ""),
		v2("account/read", "GetAccountParams", accountParams{}, "GetAccountResponse", AccountStatus{}, ""),
		v2("account/login/start", "LoginAccountParams", loginParams{}, "LoginAccountResponse", DeviceCode{}, "a login that has ended cannot be renewed by a link"),
		v2("account/login/cancel", "CancelLoginAccountParams", cancelLoginParams{}, "", nil, "a login that is no longer wanted stays open until it expires"),
		{"account/rateLimits/read", typed{}, typed{"v2/GetAccountRateLimitsResponse", LimitsNote{}}, "the limits of the account are not shown"},
		v2("thread/compact/start", "ThreadCompactStartParams", threadParams{}, "", nil, "a conversation is not made shorter in advance"),
		v2("thread/delete", "ThreadDeleteParams", threadParams{}, "", nil, "codex keeps its record of conversations that are forgotten"),
		v2("environment/add", "EnvironmentAddParams", EnvironmentAddParams{}, "", nil, noMachines),
		v2("environment/info", "EnvironmentInfoParams", environmentParams{}, "", nil, noMachines),
		v2("thread/start", "ThreadStartParams", environments{}, "", nil, noMachines),
		v2("turn/start", "TurnStartParams", environments{}, "", nil, noMachines),
	}
}

// noMachines is what there is less without remote environments.
const noMachines = "commands cannot run on other machines (RUNTIME_MACHINES)"

// promisedNotes are the notifications that the runtime reads.
func promisedNotes() []promise {
	v2 := func(method, params string, read any, lesser string) promise {
		return promise{method: method, params: typed{"v2/" + params, read}, lesser: lesser}
	}
	return []promise{
		v2(NoteTurnStarted, "TurnStartedNotification", TurnNote{}, ""),
		v2(NoteTurnCompleted, "TurnCompletedNotification", TurnNote{}, ""),
		v2(NoteItemStarted, "ItemStartedNotification", ItemNote{}, ""),
		v2(NoteItemCompleted, "ItemCompletedNotification", ItemNote{}, ""),
		v2(NoteAgentMessageDelta, "AgentMessageDeltaNotification", DeltaNote{}, ""),
		v2(NoteError, "ErrorNotification", ErrorNote{}, ""),
		v2(NoteThreadStatus, "ThreadStatusChangedNotification", ThreadStatusNote{}, ""),
		v2(NoteAccountLoginComplete, "AccountLoginCompletedNotification", LoginNote{}, ""),
		{method: NoteThreadClosed},
		{method: NoteRequestResolved},
		{method: NoteAccountUpdated},
		v2(NoteReasoningSummary, "ReasoningSummaryTextDeltaNotification", DeltaNote{}, "what the model thinks is not shown"),
		v2(NoteCommandOutput, "CommandExecutionOutputDeltaNotification", DeltaNote{}, "what a command prints is shown when it has ended"),
		v2(NotePlanUpdated, "TurnPlanUpdatedNotification", PlanNote{}, "plans are not shown"),
		v2(NoteDiffUpdated, "TurnDiffUpdatedNotification", DiffNote{}, "turns have no diff"),
		v2(NoteTokenUsage, "ThreadTokenUsageUpdatedNotification", UsageNote{}, "tokens are not counted"),
		v2(NoteRateLimits, "AccountRateLimitsUpdatedNotification", LimitsNote{}, "the limits of the account are not shown"),
		{method: NoteFilePatch, lesser: "a change is shown when it is made, and not while the model writes it"},
		{method: NoteMcpProgress, lesser: "the progress of tools is not shown"},
		{method: NoteThreadCompacted, lesser: "it is not shown that a conversation has been made shorter"},
		{method: NoteModelRerouted, lesser: "it is not shown that another model has answered"},
		{method: NoteMcpServerStatus, lesser: "the log does not say how MCP servers start"},
		{method: NoteWarning, lesser: "warnings of codex's are not shown"},
		{method: NoteConfigWarning, lesser: "warnings of codex's are not in the log"},
		{method: NoteDeprecation, lesser: "warnings of codex's are not in the log"},
	}
}

// What codex asks. Each request is answered, and one that is not among these is refused.
const (
	methodCommandApproval     = "item/commandExecution/requestApproval"
	methodFileChangeApproval  = "item/fileChange/requestApproval"
	methodPermissionsApproval = "item/permissions/requestApproval"
	methodUserInput           = "item/tool/requestUserInput"
	methodElicitation         = "mcpServer/elicitation/request"
	MethodCurrentTime         = "currentTime/read" // 0.171.0 does not ask it
)

// promisedRequests are what codex asks.
func promisedRequests() []promise {
	unasked := "what would be asked about is not done"
	return []promise{
		{method: MethodToolCall, params: typed{"DynamicToolCallParams", ToolCallParams{}}, answer: typed{"DynamicToolCallResponse", ToolCallResult{}}},
		{method: methodCommandApproval, params: typed{"CommandExecutionRequestApprovalParams", commandQuestion{}}},
		{method: methodFileChangeApproval, params: typed{"FileChangeRequestApprovalParams", question{}}},
		{method: methodPermissionsApproval, params: typed{"PermissionsRequestApprovalParams", permissionsQuestion{}}, lesser: unasked},
		{method: methodUserInput, params: typed{"ToolRequestUserInputParams", userInput{}}, lesser: "the model cannot put questions"},
		{method: methodElicitation, params: typed{"McpServerElicitationRequestParams", elicitation{}}, lesser: "MCP servers cannot put questions"},
	}
}

// What a question must have, so that it is put to those whom it is for, and they know what it is about.
// Package executor/codex/ask reads more of it where there is more.
type (
	question struct {
		ThreadID string `json:"threadId"`
		TurnID   string `json:"turnId"`
		ItemID   string `json:"itemId"`
	}
	commandQuestion struct {
		question
		Command string `json:"command"`
		Cwd     string `json:"cwd"`
	}
	permissionsQuestion struct {
		question
		Permissions any `json:"permissions"`
	}
	userInput struct {
		question
		Questions []struct {
			ID       string `json:"id"`
			Question string `json:"question"`
		} `json:"questions"`
	}
	elicitation struct {
		ThreadID string `json:"threadId"`
		TurnID   string `json:"turnId"`
		Server   string `json:"serverName"`
		Message  string `json:"message"`
		Mode     string `json:"mode"`
	}
)

// A vocabulary has the values of a string that the runtime writes, or tells apart.
type vocabulary struct {
	of     string
	in     string // the type in which they stand
	at     []string
	ours   []string
	lesser string
}

func promisedWords() []vocabulary {
	item := vocabulary{of: "an item of the kind", in: "v2/ItemCompletedNotification", at: []string{"item", "type"}}
	needed, shown := item, item
	for _, kind := range []ItemType{ItemUserMessage, ItemAgentMessage, ItemReasoning, ItemCommandExecution, ItemFileChange, ItemMcpToolCall, ItemDynamicToolCall, ItemContextCompaction} {
		needed.ours = append(needed.ours, string(kind))
	}
	shown.lesser = "such items are shown by their names alone"
	for _, kind := range []ItemType{ItemPlan, ItemWebSearch, ItemHookPrompt, ItemImageGeneration, ItemSubAgentActivity} {
		shown.ours = append(shown.ours, string(kind))
	}
	return []vocabulary{
		needed, shown,
		{
			of: "a turn that is", in: "v2/TurnCompletedNotification", at: []string{"turn", "status"},
			ours: []string{string(TurnCompleted), string(TurnInterrupted), string(TurnFailed), string(TurnInProgress)},
		},
		{
			of: "the sandbox", in: "v2/ThreadStartParams", at: []string{"sandbox"},
			ours: []string{string(ReadOnly), string(WorkspaceWrite), string(DangerFullAccess)},
		},
		{
			of: "the approval policy", in: "v2/ThreadStartParams", at: []string{"approvalPolicy"},
			ours: []string{string(Untrusted), string(OnRequest), string(Never)},
		},
	}
}
