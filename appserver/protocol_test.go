package appserver

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// A spec is one file of the schema.
type spec struct {
	root map[string]any
	all  *jsonschema.Schema
}

func readSpec(t *testing.T, dir, name string) spec {
	t.Helper()
	path := filepath.Join(dir, name+".json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var s spec
	if err := json.Unmarshal(text, &s.root); err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if s.all, err = compiler.Compile(path); err != nil {
		t.Fatal(err)
	}
	return s
}

// properties returns what a value described by node may have as members: those
// of the node itself, of what it refers to, and of all its alternatives.
func (s spec) properties(node any) map[string]any {
	found := map[string]any{}
	object, ok := node.(map[string]any)
	if !ok {
		return found
	}
	if ref, ok := object["$ref"].(string); ok {
		add(found, s.properties(s.resolve(ref)))
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		alternatives, _ := object[key].([]any)
		for _, alternative := range alternatives {
			add(found, s.properties(alternative))
		}
	}
	members, _ := object["properties"].(map[string]any)
	add(found, members)
	return found
}

// add joins properties; one that stands in several alternatives may be any of them.
func add(to, from map[string]any) {
	for name, node := range from {
		if before, ok := to[name]; ok {
			node = map[string]any{"anyOf": []any{before, node}}
		}
		to[name] = node
	}
}

func (s spec) resolve(ref string) any {
	var node any = s.root
	for step := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		node = node.(map[string]any)[step]
	}
	return node
}

// follow returns the schemas of the elements, or of the values, of a node.
func (s spec) follow(node any, key string) []any {
	object, ok := node.(map[string]any)
	if !ok {
		return nil
	}
	var found []any
	if ref, ok := object["$ref"].(string); ok {
		found = append(found, s.follow(s.resolve(ref), key)...)
	}
	for _, alternatives := range []string{"anyOf", "oneOf", "allOf"} {
		list, _ := object[alternatives].([]any)
		for _, alternative := range list {
			found = append(found, s.follow(alternative, key)...)
		}
	}
	if inner, ok := object[key]; ok {
		found = append(found, inner)
	}
	return found
}

// checkType fails for each JSON member of typ that the schema does not know.
// codex ignores a member that it does not know, and so do we one that is never sent.
func (s spec) checkType(t *testing.T, typ reflect.Type, node any, at string) {
	t.Helper()
	switch typ.Kind() {
	case reflect.Pointer:
		s.checkType(t, typ.Elem(), node, at)
	case reflect.Slice, reflect.Map:
		key := map[reflect.Kind]string{reflect.Slice: "items", reflect.Map: "additionalProperties"}[typ.Kind()]
		if typ.Elem().Kind() == reflect.Struct {
			s.checkType(t, typ.Elem(), map[string]any{"anyOf": s.follow(node, key)}, at+"[]")
		}
	case reflect.Struct:
		known := s.properties(node)
		for field := range typ.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "-" { // it stands beside the params
				continue
			}
			if name == "" {
				t.Errorf("%s: field %s has no JSON name", at, field.Name)
				continue
			}
			member, ok := known[name]
			if !ok {
				t.Errorf("%s.%s is not in the schema, which has %v", at, name, names(known))
				continue
			}
			s.checkType(t, field.Type, member, at+"."+name)
		}
	default:
	}
}

func names(m map[string]any) []string {
	var all []string
	for name := range m {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// fill sets every field of v to something, so that every member is encoded.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("some_key"), value)
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64, reflect.Uint8:
		if v.CanInt() {
			v.SetInt(7)
		}
	case reflect.Interface:
		v.Set(reflect.ValueOf("x"))
	default:
		panic(fmt.Sprintf("fill: %v", v.Kind()))
	}
}

// sent holds, for each type that we send, how to make its enumerations valid.
func sent() map[string]any {
	input := []UserInput{Text("hi"), {Type: "image", URL: "https://x/y.png"}, {Type: "localImage", Path: "/x"}}
	start := filled(ThreadStartParams{})
	start.ApprovalPolicy, start.ApprovalsReviewer, start.Sandbox = Untrusted, "user", WorkspaceWrite
	start.DynamicTools = []DynamicTool{{Type: "function", Name: "x", Description: "y", InputSchema: json.RawMessage(`{"type":"object"}`)}}
	resume := filled(ThreadResumeParams{})
	resume.ApprovalPolicy, resume.ApprovalsReviewer, resume.Sandbox = OnRequest, "user", DangerFullAccess
	turn := filled(TurnStartParams{})
	turn.Input, turn.ApprovalPolicy, turn.Effort, turn.SandboxPolicy = input, Never, "high", PolicyOf(WorkspaceWrite, []string{"/t"})
	turn.AdditionalContext = map[string]AdditionalContext{"a": {Kind: "application", Value: "x"}, "b": {Kind: "untrusted", Value: "y"}}
	steer := filled(TurnSteerParams{})
	steer.Input = input
	turns := filled(turnsParams{})
	turns.ItemsView = "full"
	return map[string]any{
		"v1/InitializeParams":                         filled(initializeParams{}),
		"v2/ThreadStartParams":                        start,
		"v2/ThreadResumeParams":                       resume,
		"v2/ThreadReadParams":                         filled(threadParams{}),
		"v2/ThreadUnsubscribeParams":                  filled(threadParams{}),
		"v2/TurnStartParams":                          turn,
		"v2/TurnSteerParams":                          steer,
		"v2/TurnInterruptParams":                      filled(interruptParams{}),
		"v2/ThreadTurnsListParams":                    turns,
		"v2/ThreadBackgroundTerminalsListParams":      filled(terminalsParams{}),
		"v2/ThreadBackgroundTerminalsTerminateParams": filled(terminateParams{}),
		"v2/ThreadQueueListParams":                    filled(queuedParams{}),
		"v2/ThreadQueueDeleteParams":                  filled(unqueueParams{}),
		"v2/GetAccountParams":                         filled(accountParams{}),
		"v2/LoginAccountParams":                       loginParams{Type: "chatgptDeviceCode"},
		"v2/CancelLoginAccountParams":                 filled(cancelLoginParams{}),
		"v2/ThreadRevertParams":                       filled(revertParams{}),
		"v2/ThreadCompactStartParams":                 filled(threadParams{}),
		"DynamicToolCallResponse":                     ToolCallResult{Success: true, Content: []ToolCallContent{{Type: "inputText", Text: "x"}}},
	}
}

func filled[T any](v T) T {
	fill(reflect.ValueOf(&v).Elem())
	return v
}

func TestWhatWeSendIsInTheSchema(t *testing.T) {
	dir := codextest.SchemaDir(t)
	for name, value := range sent() {
		t.Run(filepath.Base(name), func(t *testing.T) {
			s := readSpec(t, dir, name)
			s.checkType(t, reflect.TypeOf(value), s.root, "")
			text, err := json.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			instance, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.all.Validate(instance); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		})
	}
}

func TestWhatWeReadIsInTheSchema(t *testing.T) {
	dir := codextest.SchemaDir(t)
	for name, value := range map[string]any{
		"v1/InitializeResponse":                         ServerInfo{},
		"v2/ThreadStartResponse":                        ThreadSession{},
		"v2/ThreadResumeResponse":                       ThreadSession{},
		"v2/TurnStartResponse":                          turnAnswer{},
		"v2/ThreadTurnsListResponse":                    turnsPage{},
		"v2/ThreadBackgroundTerminalsListResponse":      terminalsPage{},
		"v2/ThreadBackgroundTerminalsTerminateResponse": terminateAnswer{},
		"v2/ThreadQueueListResponse":                    queuedPage{},
		"v2/GetAccountResponse":                         AccountStatus{},
		"v2/LoginAccountResponse":                       DeviceCode{},
		"v2/AccountLoginCompletedNotification":          LoginNote{},
		"v2/AccountRateLimitsUpdatedNotification":       LimitsNote{},
		"v2/GetAccountRateLimitsResponse":               LimitsNote{},
		"v2/ThreadRevertResponse":                       revertAnswer{},
		"v2/ItemStartedNotification":                    ItemNote{},
		"v2/ItemCompletedNotification":                  ItemNote{},
		"v2/AgentMessageDeltaNotification":              DeltaNote{},
		"v2/ReasoningSummaryTextDeltaNotification":      DeltaNote{},
		"v2/CommandExecutionOutputDeltaNotification":    DeltaNote{},
		"v2/TurnStartedNotification":                    TurnNote{},
		"v2/TurnCompletedNotification":                  TurnNote{},
		"v2/TurnPlanUpdatedNotification":                PlanNote{},
		"v2/TurnDiffUpdatedNotification":                DiffNote{},
		"v2/ThreadTokenUsageUpdatedNotification":        UsageNote{},
		"v2/ErrorNotification":                          ErrorNote{},
		"v2/ThreadStatusChangedNotification":            ThreadStatusNote{},
		"DynamicToolCallParams":                         ToolCallParams{},
	} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			s := readSpec(t, dir, name)
			s.checkType(t, reflect.TypeOf(value), s.root, "")
		})
	}
}

// enum returns the values of a string enumeration of the schema.
func (s spec) enum(node any) []string {
	object, ok := node.(map[string]any)
	if !ok {
		return nil
	}
	var found []string
	if ref, ok := object["$ref"].(string); ok {
		found = append(found, s.enum(s.resolve(ref))...)
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		list, _ := object[key].([]any)
		for _, alternative := range list {
			found = append(found, s.enum(alternative)...)
		}
	}
	values, _ := object["enum"].([]any)
	for _, value := range values {
		if name, ok := value.(string); ok {
			found = append(found, name)
		}
	}
	return found
}

func (s spec) methods() []string {
	var all []string
	for _, one := range s.root["oneOf"].([]any) {
		all = append(all, s.enum(s.properties(one)["method"])...)
	}
	return all
}

func TestNamesAreInTheSchema(t *testing.T) {
	dir := codextest.SchemaDir(t)
	notes := readSpec(t, dir, "ServerNotification")
	items := readSpec(t, dir, "v2/ItemCompletedNotification")
	turns := readSpec(t, dir, "v2/TurnCompletedNotification")
	threads := readSpec(t, dir, "v2/ThreadStartParams")
	within(t, "notifications", notes.methods(),
		NoteTurnStarted, NoteTurnCompleted, NoteItemStarted, NoteItemCompleted, NoteAgentMessageDelta,
		NoteReasoningSummary, NoteCommandOutput, NoteFilePatch, NoteMcpProgress, NotePlanUpdated, NoteDiffUpdated,
		NoteTokenUsage, NoteThreadStatus, NoteThreadClosed, NoteThreadCompacted, NoteError, NoteWarning,
		NoteModelRerouted, NoteAccountUpdated, NoteRateLimits, NoteRequestResolved, NoteMcpServerStatus,
		NoteConfigWarning, NoteDeprecation, NoteAccountLoginComplete)
	within(t, "client methods", readSpec(t, dir, "ClientRequest").methods(),
		"initialize", "thread/start", "thread/resume", "thread/unsubscribe", "thread/turns/list",
		"thread/backgroundTerminals/list", "thread/backgroundTerminals/terminate",
		"turn/start", "turn/steer", "turn/interrupt", "account/read", "account/login/start", "account/login/cancel",
		"thread/revert", "thread/compact/start", "thread/read", "thread/loaded/list", "thread/archive", "thread/unarchive",
		"thread/queue/list", "thread/queue/delete")
	within(t, "item types", items.enum(items.properties(items.properties(items.root)["item"])["type"]),
		string(ItemUserMessage), string(ItemAgentMessage), string(ItemReasoning), string(ItemPlan),
		string(ItemCommandExecution), string(ItemFileChange), string(ItemMcpToolCall),
		string(ItemDynamicToolCall), string(ItemWebSearch), string(ItemContextCompaction))
	within(t, "turn states", turns.enum(turns.properties(turns.properties(turns.root)["turn"])["status"]),
		string(TurnCompleted), string(TurnInterrupted), string(TurnFailed), string(TurnInProgress))
	within(t, "sandbox modes", threads.enum(threads.properties(threads.root)["sandbox"]),
		string(ReadOnly), string(WorkspaceWrite), string(DangerFullAccess))
	within(t, "approval policies", threads.enum(threads.properties(threads.root)["approvalPolicy"]),
		string(Untrusted), string(OnRequest), string(Never))
}

func within(t *testing.T, what string, known []string, ours ...string) {
	t.Helper()
	for _, name := range ours {
		if !slices.Contains(known, name) {
			t.Errorf("%s: %q is not in the schema", what, name)
		}
	}
}

// Whoever answers requests has to know all of them: a new one would be refused.
func TestServerRequestsAreTheKnownOnes(t *testing.T) {
	got := readSpec(t, codextest.SchemaDir(t), "ServerRequest").methods()
	slices.Sort(got)
	want := []string{
		"account/chatgptAuthTokens/refresh", "applyPatchApproval", "attestation/generate", "currentTime/read",
		"execCommandApproval", "item/commandExecution/requestApproval", "item/fileChange/requestApproval",
		"item/permissions/requestApproval", "item/tool/call", "item/tool/requestUserInput",
		"mcpServer/elicitation/request",
	}
	if !slices.Equal(got, want) {
		t.Errorf("server requests = %q\nwant %q", got, want)
	}
}

// The deltas, which a full queue may drop, are told by their names.
func TestDeltasAreToldByTheirNames(t *testing.T) {
	var got []string
	for _, method := range readSpec(t, codextest.SchemaDir(t), "ServerNotification").methods() {
		if isDelta(method) && strings.HasPrefix(method, "item/") {
			got = append(got, method)
		}
	}
	slices.Sort(got)
	want := []string{
		"item/agentMessage/delta", "item/commandExecution/outputDelta", "item/fileChange/outputDelta",
		"item/plan/delta", "item/reasoning/summaryTextDelta", "item/reasoning/textDelta",
	}
	if !slices.Equal(got, want) {
		t.Errorf("deltas = %q\nwant %q", got, want)
	}
}
