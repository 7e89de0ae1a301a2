package ask

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// Requests as the real codex 0.169.0 makes them.
const (
	commandRequest = `{"kind":"command","threadId":"t","turnId":"u","itemId":"i","startedAtMs":1,"environmentId":"local","reason":"may I?",
		"command":"/bin/bash -lc 'echo one'","cwd":"/w","commandActions":[{"type":"unknown","command":"echo one"}],
		"proposedExecpolicyAmendment":["echo","one"],
		"availableDecisions":["accept",{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["echo","one"]}},"cancel"]}`
	networkRequest = `{"kind":"command","threadId":"t","turnId":"u","itemId":"i","startedAtMs":1,"environmentId":"local","command":"curl x","cwd":"/w",
		"networkApprovalContext":{"host":"example.com","protocol":"https"},"proposedNetworkPolicyAmendments":[{"host":"example.com","action":"allow"}],
		"availableDecisions":["accept",` + networkAmendment + `,"cancel"]}`
	fileRequest        = `{"threadId":"t","turnId":"u","itemId":"i","startedAtMs":1,"reason":null,"grantRoot":null}`
	permissionsRequest = `{"threadId":"t","turnId":"u","itemId":"i","environmentId":"local","startedAtMs":1,"cwd":"/w","reason":"need it",
		"permissions":{"network":{"enabled":true},"fileSystem":{"read":null,"write":["/x"],"entries":[{"path":{"type":"path","path":"/x"},"access":"write"}]}}}`
	inputRequest = `{"threadId":"t","turnId":"u","itemId":"i","isBlocking":true,"autoResolutionMs":null,"questions":[
		{"id":"colour","header":"Colour","question":"Which colour?","isOther":true,"isSecret":false,
		"options":[{"label":"red","description":"warm"},{"label":"blue","description":"cold"}]}]}`
	inputsRequest = `{"threadId":"t","turnId":"u","itemId":"i","isBlocking":true,"questions":[
		{"id":"colour","header":"Colour","question":"Which colour?","isOther":false,"options":[{"label":"red","description":""},{"label":"blue","description":""}]},
		{"id":"size","header":"Size","question":"Which size?","isSecret":true,"options":null}]}`
	toolRequest = `{"threadId":"t","turnId":"u","serverName":"asker","mode":"form","message":"Allow the asker MCP server to run tool \"plain\"?","requestedSchema":{"type":"object","properties":{}},
		"_meta":{"codex_approval_kind":"mcp_tool_call","persist":["session","always"],"tool_name":"plain","tool_description":"d","tool_params":{"a":1}}}`
	formRequest = `{"threadId":"t","turnId":null,"serverName":"asker","mode":"form","_meta":null,"message":"Who are you?","requestedSchema":
		{"type":"object","properties":{"age":{"type":"integer"},"name":{"type":"string","title":"Your name","minLength":2}},"required":["name"]}}`
	choiceRequest = `{"threadId":"t","turnId":"u","serverName":"asker","mode":"form","message":"Which?","requestedSchema":
		{"type":"object","properties":{"size":{"type":"string","enum":["s","m"],"enumNames":["Small","Medium"]}},"required":["size"]}}`
	codesRequest = `{"threadId":"t","turnId":"u","serverName":"asker","mode":"form","message":"What?","requestedSchema":
		{"type":"object","properties":{"what":{"type":"string","oneOf":[{"const":"2","title":"Keep"},{"const":"1","title":"Delete"}]}},"required":["what"]}}`
	digitsRequest = `{"threadId":"t","turnId":"u","serverName":"asker","mode":"form","message":"What?","requestedSchema":
		{"type":"object","properties":{"what":{"type":"string","enum":["3","2","1"]}},"required":["what"]}}`
	emptyFormRequest = `{"threadId":"t","turnId":"u","serverName":"asker","mode":"form","message":"Sure?","requestedSchema":{"type":"object","properties":{}}}`
	linkRequest      = `{"threadId":"t","turnId":"u","serverName":"asker","mode":"url","message":"Log in","elicitationId":"e","url":"https://example.com/x"}`
)

// Rules that codex proposes with the first two.
const (
	amendment        = `{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["echo","one"]}}`
	networkAmendment = `{"applyNetworkPolicyAmendment":{"network_policy_amendment":{"action":"allow","host":"example.com"}}}`
)

func methodOf(request string) (method, file string) {
	switch request {
	case commandRequest, networkRequest:
		return "item/commandExecution/requestApproval", "CommandExecutionRequestApproval"
	case fileRequest:
		return "item/fileChange/requestApproval", "FileChangeRequestApproval"
	case permissionsRequest:
		return "item/permissions/requestApproval", "PermissionsRequestApproval"
	case inputRequest, inputsRequest:
		return "item/tool/requestUserInput", "ToolRequestUserInput"
	}
	return "mcpServer/elicitation/request", "McpServerElicitationRequest"
}

func requestOf(t *testing.T, request string, rules bool) Request {
	t.Helper()
	method, _ := methodOf(request)
	return readOf(t, method, request, Terms{Rules: rules})
}

// given is an answer in words, or in data if it is an object.
func given(t *testing.T, text string) agent.Answer {
	t.Helper()
	var data map[string]any
	if strings.HasPrefix(text, "{") {
		if err := json.Unmarshal([]byte(text), &data); err != nil {
			t.Fatal(err)
		}
		return agent.Answer{Data: data}
	}
	return agent.Answer{Text: text}
}

// TestAnswersWithoutAPerson checks what codex is told where nobody is asked, or nobody answers.
func TestAnswersWithoutAPerson(t *testing.T) {
	t.Parallel()
	pinned := codextest.NewSchema(t)
	for _, request := range []string{commandRequest, fileRequest, permissionsRequest, inputRequest, formRequest, toolRequest} {
		_, file := methodOf(request)
		r := requestOf(t, request, false)
		pinned.Check(t, file+"Response", r.Refusal())
		pinned.Check(t, file+"Response", r.Grant())
	}
}

// TestAnswers checks what codex is told, and that its own schema allows it.
func TestAnswers(t *testing.T) {
	t.Parallel()
	pinned := codextest.NewSchema(t)
	const all = `{"fileSystem":{"entries":[{"access":"write","path":{"path":"/x","type":"path"}}],"read":null,"write":["/x"]},"network":{"enabled":true}}`
	for _, c := range []struct{ request, answer, want string }{
		{commandRequest, "yes", `{"decision":"accept"}`},
		{commandRequest, " OK! ", `{"decision":"accept"}`},
		{commandRequest, "Approve for session.", `{"decision":"accept"}`},
		{commandRequest, "always", `{"decision":"accept"}`},
		{commandRequest, "Don’t", `{"decision":"decline"}`},
		{commandRequest, "no", `{"decision":"decline"}`},
		{commandRequest, "cancel", `{"decision":"cancel"}`},
		{commandRequest, `{"decision":"accept"}`, `{"decision":"accept"}`},
		{commandRequest, `{"decision":` + amendment + `}`, `{"decision":` + amendment + `}`},
		{networkRequest, `{"decision":` + networkAmendment + `}`, `{"decision":` + networkAmendment + `}`},
		{fileRequest, "reject", `{"decision":"decline"}`},
		{permissionsRequest, "yes", `{"permissions":` + all + `,"scope":"turn"}`},
		{permissionsRequest, "for session", `{"permissions":` + all + `,"scope":"session"}`},
		{permissionsRequest, `{"decision":"decline"}`, `{"permissions":{},"scope":"turn"}`},
		{inputRequest, "2", `{"answers":{"colour":{"answers":["blue"]}}}`},
		{inputRequest, "RED", `{"answers":{"colour":{"answers":["red"]}}}`},
		{inputRequest, "a mixture of both", `{"answers":{"colour":{"answers":["a mixture of both"]}}}`},
		{inputRequest, "no", `{"answers":{"colour":{"answers":["no"]}}}`},
		{inputRequest, `{"answers":{"colour":"blue"}}`, `{"answers":{"colour":{"answers":["blue"]}}}`},
		{inputRequest, `{"answers":{"colour":{"answers":["blue","red"]}}}`, `{"answers":{"colour":{"answers":["blue","red"]}}}`},
		{inputRequest, `{"decision":"decline"}`, `{"answers":{}}`},
		{inputsRequest, "1: blue\nSize: ten: eleven", `{"answers":{"colour":{"answers":["blue"]},"size":{"answers":["ten: eleven"]}}}`},
		{inputsRequest, `{"answers":{"colour":["red"],"size":7}}`, `{"answers":{"colour":{"answers":["red"]},"size":{"answers":["7"]}}}`},
		{toolRequest, "yes", `{"action":"accept","content":{}}`},
		{toolRequest, "always", `{"_meta":{"persist":"session"},"action":"accept","content":{}}`},
		{toolRequest, "no", `{"action":"decline","content":null}`},
		{toolRequest, `{"action":"cancel"}`, `{"action":"cancel","content":null}`},
		{codesRequest, "1", `{"action":"accept","content":{"what":"2"}}`},
		{codesRequest, "Delete", `{"action":"accept","content":{"what":"1"}}`},
		{digitsRequest, "2", `{"action":"accept","content":{"what":"2"}}`},
		{digitsRequest, "1.", `{"action":"accept","content":{"what":"3"}}`},
		{formRequest, "name: Ada\nage: 36", `{"action":"accept","content":{"age":36,"name":"Ada"}}`},
		{formRequest, "name: Ada\nage: 1234567890123456789", `{"action":"accept","content":{"age":1234567890123456789,"name":"Ada"}}`},
		{formRequest, "Your name: Ada", `{"action":"accept","content":{"name":"Ada"}}`},
		{formRequest, `{"content":{"name":"Ada"}}`, `{"action":"accept","content":{"name":"Ada"}}`},
		{formRequest, `{"action":"accept","content":{"name":"Ada","age":36}}`, `{"action":"accept","content":{"age":36,"name":"Ada"}}`},
		{formRequest, "decline", `{"action":"decline","content":null}`},
		{formRequest, "cancel", `{"action":"cancel","content":null}`},
		{choiceRequest, "Medium", `{"action":"accept","content":{"size":"m"}}`},
		{choiceRequest, "1", `{"action":"accept","content":{"size":"s"}}`},
		{emptyFormRequest, "yes", `{"action":"accept","content":{}}`},
		{linkRequest, "ok", `{"action":"accept","content":null}`},
		{linkRequest, "no", `{"action":"decline","content":null}`},
	} {
		_, file := methodOf(c.request)
		var params any
		if err := json.Unmarshal([]byte(c.request), &params); err != nil {
			t.Fatal(err)
		}
		pinned.Check(t, file+"Params", params)
		got, err := requestOf(t, c.request, strings.Contains(c.answer, "Amendment")).Pose(viewOf()).Answer(given(t, c.answer))
		if err != nil {
			t.Errorf("%s to %.60s: %v", c.answer, c.request, err)
			continue
		}
		pinned.Check(t, file+"Response", got.Value)
		if text, _ := json.Marshal(got.Value); string(text) != c.want {
			t.Errorf("%s to %.60s is %s, want %s", c.answer, c.request, text, c.want)
		}
	}
}

// TestWrongAnswers are told apart from right ones, each with a reason.
func TestWrongAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ request, answer, why string }{
		{commandRequest, "", "not understood"},
		{commandRequest, "perhaps", "not understood"},
		{commandRequest, "yes" + strings.Repeat(" ", 256) + "no, do not", "not understood"},
		{commandRequest, "yes, but only on Sundays", "not understood"},
		{commandRequest, `{"decision":"perhaps"}`, "not known"},
		{commandRequest, `{"decision":7}`, "a text or an object"},
		{commandRequest, `{"decision":{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["rm"]}}}`, "not offered"},
		{commandRequest, `{"decision":` + amendment + `}`, "CODEX_RULES=callers"},
		{networkRequest, `{"decision":` + networkAmendment + `}`, "CODEX_RULES=callers"},
		{commandRequest, `{"answers":{"a":"b"}}`, "not understood"},
		{fileRequest, `{"decision":{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["echo","one"]}}}`, "not offered"},
		{permissionsRequest, "cancel", "cannot be given here"},
		{inputRequest, "  ", "no answer in that"},
		{inputRequest, `{"answers":{"hue":"blue"}}`, `"hue"`},
		{inputRequest, `{"answers":{"colour":null}}`, "is missing"},
		{inputRequest, `{"answers":{"colour":[7]}}`, "list of texts"},
		{inputRequest, `{"decision":"cancel"}`, "cannot be given"},
		{inputsRequest, "blue", "does not say what it answers"},
		{inputsRequest, "1: blue", "is missing"},
		{inputsRequest, "1: blue\n1: red\n2: x", "answered twice"},
		{inputsRequest, "1: green\n2: x", "none of the choices"},
		{formRequest, `{"content":{"name":"A"}}`, "does not fit"},
		{formRequest, `{"content":{"name":"Ada","age":"old"}}`, "does not fit"},
		{formRequest, "name: Ada\nage: old", "no number"},
		{formRequest, "name: Ada\nage: NaN", "no number"},
		{formRequest, "name: Ada\nage: -inf", "no number"},
		{formRequest, `{"content":{"nickname":"A"}}`, "nickname"},
		{formRequest, `{"decision":"acceptForSession"}`, "cannot be given"},
		{choiceRequest, "large", "none of the choices"},
		{codesRequest, "0", "none of the choices"},
		{digitsRequest, "1", "the number of one choice and the text of another"},
		{linkRequest, "always", "cannot be given"},
		{commandRequest, "Allowed?", "not understood"},
		{permissionsRequest, "For this session?", "not understood"},
	} {
		got, err := requestOf(t, c.request, false).Pose(viewOf()).Answer(given(t, c.answer))
		wrong, ok := errors.AsType[*agent.NotUnderstoodError](err)
		if !ok || !strings.Contains(wrong.Why, c.why) {
			t.Errorf("%q to %.60s: %v, %v, want %q", c.answer, c.request, got.Value, err, c.why)
		}
	}
}

// TestRules are offered only where callers may make them.
func TestRules(t *testing.T) {
	t.Parallel()
	for request, rule := range map[string]string{commandRequest: amendment, networkRequest: networkAmendment} {
		for _, rules := range []bool{false, true} {
			offered, err := json.Marshal(requestOf(t, request, rules).Pose(viewOf()).data)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(offered), rule) != rules {
				t.Errorf("where callers may make rules is %t: offered %s", rules, offered)
			}
		}
	}
}

// TestUnreadableRequests are declined at once.
func TestUnreadableRequests(t *testing.T) {
	t.Parallel()
	for method, body := range map[string]string{
		"item/commandExecution/requestApproval": `{"command":7}`,
		"item/fileChange/requestApproval":       `[]`,
		"item/permissions/requestApproval":      `{"permissions":null}`,
		"item/tool/requestUserInput":            `{"questions":[]}`,
		"mcpServer/elicitation/request":         `{"mode":"openai/userVerification","challenge":"x"}`,
	} {
		if r, known, err := Read(method, json.RawMessage(body), Terms{}); !known || err == nil || r.Refusal() == nil {
			t.Errorf("%s of %s was read: %v", method, body, r)
		}
	}
}

// TestQuestionsInWords holds what people read.
func TestQuestionsInWords(t *testing.T) {
	t.Parallel()
	with := viewOf(agent.Change{Path: "/w/a.txt", Diff: "+one", Kind: "add"})
	with.Hide = func(s string) string { return strings.ReplaceAll(s, "echo", "[redacted]") }
	for request, want := range map[string][]string{
		commandRequest:     {"run this command", "    /bin/bash -lc '[redacted] one'", "Directory: /w", "Reason: may I?", "outside of the sandbox", "Answer yes, no", "or cancel"},
		fileRequest:        {"change files", "    add /w/a.txt\n        +one\n", "Answer yes", "changes to these files, whatever they are, are not asked about again"},
		permissionsRequest: {"use the network", "write /x", "Reason: need it"},
		inputRequest:       {"Which colour?\n1. red: warm\n2. blue: cold", "Answer with a number, or in words of your own."},
		inputsRequest:      {"1: Which colour? (red | blue)\n2: Which size?", `such as "1: …".`},
		toolRequest:        {"call the tool plain of the MCP server asker", `{"a":1}`, "always"},
		formRequest:        {"asker asks: Who are you?", "1: Your name\n2: age", "or with decline."},
		linkRequest:        {"https://example.com/x"},
	} {
		p := requestOf(t, request, false).Pose(with)
		shown := p.text + "\n\n" + p.accepts
		for _, words := range want {
			if !strings.Contains(shown, words) {
				t.Errorf("%q is not in:\n%s", words, shown)
			}
		}
	}
}

// TestLabelsAreOneLine: what stands among the choices is not a label's to write.
func TestLabelsAreOneLine(t *testing.T) {
	feed := []option{{label: "red\n2. blue", description: "warm\n3. green"}}
	with := &draft{View: View{Hide: strings.Clone}}
	for want, fields := range map[string][]field{
		"It wants: Which?\n1. red 2. blue: warm 3. green":                      {{label: "Which?", options: feed}},
		"It wants:\n\n    Which?\n    1. green\n1. red 2. blue: warm 3. green": {{label: "Which?\n1. green", options: feed}},
		"1: a 2: b (red 2. blue)\n2: c":                                        {{label: "a\n2: b", options: feed}, {label: "c"}},
	} {
		if got := inLines(with, "It wants: ", fields); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
