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

	"github.com/Molecule-AI/molecule-codex-runtime/appserver/schema"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

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

// TestWhatWeSendIsInTheSchema: the values that the runtime makes are those that codex takes.
func TestWhatWeSendIsInTheSchema(t *testing.T) {
	pinned := codextest.NewSchema(t)
	for name, value := range sent() {
		t.Run(filepath.Base(name), func(t *testing.T) { pinned.Check(t, name, value) })
	}
}

// TestNothingIsMissing of what the runtime uses, and all that it calls is among that.
func TestNothingIsMissing(t *testing.T) {
	protocol, err := ReadProtocol(os.DirFS(codextest.SchemaDir(t)))
	if err != nil || len(protocol.Missing) > 0 {
		t.Errorf("missing: %v, %v", protocol.Missing, err)
	}
	for _, name := range []string{"turn/start: sandboxPolicy", "turn/start: input.text", "the answer to turn/start: turn.id", "turn/completed: turn.status", "item/tool/call: arguments", "an item of the kind fileChange", "the sandbox read-only"} {
		if _, ok := protocol.Used[name]; !ok {
			t.Errorf("%s is not looked for", name)
		}
	}
	for name := range sent() { // each type that is sent is looked for whole
		if !slices.ContainsFunc(slices.Concat(promisedCalls(), promisedRequests()), func(p promise) bool { return p.params.name == name || p.answer.name == name }) {
			t.Errorf("nothing is promised of %s", name)
		}
	}
}

// methodsOf are those of the codex at hand.
func methodsOf(t *testing.T, kind string) []string {
	t.Helper()
	all, err := schema.Open(os.DirFS(codextest.SchemaDir(t))).Methods(kind)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Whoever answers requests has to know all of them: a new one would be refused.
func TestServerRequestsAreTheKnownOnes(t *testing.T) {
	got := methodsOf(t, "ServerRequest")
	want := []string{
		"account/chatgptAuthTokens/refresh", "applyPatchApproval", "attestation/generate", "currentTime/read",
		"execCommandApproval", "item/commandExecution/requestApproval", "item/fileChange/requestApproval",
		"item/permissions/requestApproval", "item/tool/call", "item/tool/requestUserInput",
		"mcpServer/elicitation/request",
	}
	for _, method := range got { // one that some codex does not have is answered all the same
		if !slices.Contains(want, method) {
			t.Errorf("there is a request that the runtime does not know: %q", method)
		}
	}
}

// The deltas, which a full queue may drop, are told by their names.
func TestDeltasAreToldByTheirNames(t *testing.T) {
	var got []string
	for _, method := range methodsOf(t, "ServerNotification") {
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
