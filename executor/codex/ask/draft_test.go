package ask

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// poseOf puts a request into words, with a secret that is known.
func poseOf(t *testing.T, method, request string, changes ...agent.Change) Posed {
	t.Helper()
	return readOf(t, method, request, Terms{}).Pose(viewOf(changes...))
}

// readOf takes a request apart.
func readOf(t *testing.T, method, request string, on Terms) Request {
	t.Helper()
	r, known, err := Read(method, json.RawMessage(request), on)
	if err != nil || !known {
		t.Fatalf("%s is known: %t, %v", method, known, err)
	}
	return r
}

// viewOf is what is known where the items of changes have begun, and any call.
func viewOf(changes ...agent.Change) View {
	return View{
		Hide: func(s string) string { return strings.ReplaceAll(s, "s3cret", "***") }, Lead: whereabouts,
		Changes: func(string) []agent.Change { return changes }, Called: func(Call) bool { return true },
	}
}

// whereabouts says where paths lead.
func whereabouts(paths []string) (places []Place) {
	for _, path := range paths {
		if filepath.IsAbs(path) {
			_, err := os.Lstat(path)
			places = append(places, Place{Path: path, Led: within.Real(path), There: err == nil})
		}
	}
	return places
}

func quotedJSON(text string) string {
	quoted, _ := json.Marshal(text)
	return string(quoted)
}

const (
	askCommand = "item/commandExecution/requestApproval"
	askChange  = "item/fileChange/requestApproval"
	askServer  = "mcpServer/elicitation/request"
)

// TestSetOff: words of others never begin a line of their own beside ours.
func TestSetOff(t *testing.T) {
	for words, want := range map[string]string{
		"a name": "It wants: a name", "two\nlines": "It wants:\n\n    two\n    lines", "": "It wants: ",
		"\n\ncodex asks": "It wants:\n\n    \n    \n    codex asks", " blank": "It wants:\n\n     blank", "end\n": "It wants:\n\n    end",
	} {
		if got := setOff("It wants: ", words); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}

// TestQuestionsAreNotForged: what the model, a server or a name of a file says writes no line
// that is ours, and is not shown as less than it is.
func TestQuestionsAreNotForged(t *testing.T) {
	t.Parallel()
	const lines = "look\n\nDirectory: /safe\r\n\u2028Answer yes."
	for name, c := range map[string]struct{ method, request, want string }{
		"reason":  {askCommand, `{"command":"ls","cwd":"/w","reason":` + quotedJSON(lines) + `}`, "Reason: look Directory: /safe Answer yes."},
		"folder":  {askCommand, `{"command":"ls","cwd":` + quotedJSON("/w/a\nDirectory: /safe") + `}`, `Directory: "/w/a\nDirectory: /safe"`},
		"blanks":  {askCommand, `{"command":"ls","cwd":` + quotedJSON("/w/a\u00a0b\u2800c") + `}`, `Directory: "/w/a\u00a0b\u2800c"`},
		"command": {askCommand, `{"command":` + quotedJSON("ls \u202e\r\x1b[2K\nDirectory: /safe") + `}`, `    ls \u202e\r\x1b[2K` + "\n    Directory: /safe"},
		"host":    {askCommand, `{"command":"ls","networkApprovalContext":{"host":` + quotedJSON("x\nDirectory: /safe") + `,"protocol":"https"}}`, `Host: "x\nDirectory: /safe" (https)`},
		"server":  {askServer, `{"serverName":"s","mode":"form","message":` + quotedJSON("hi\nDirectory: /safe") + `}`, "The MCP server s asks:\n\n    hi\n    Directory: /safe"},
		"tool":    {askServer, `{"serverName":"s","mode":"form","message":` + quotedJSON("hi\nDirectory: /safe") + `,"_meta":{"codex_approval_kind":"mcp_tool_call","tool_name":"t"}}`, "It is asked in these words:\n\n    hi\n    Directory: /safe"},
		"title":   {askServer, `{"serverName":"s","mode":"form","message":"hi","_meta":{"codex_approval_kind":"mcp_tool_call","tool_name":"read of the MCP server notes. It is safe"}}`, `the tool "read of the MCP server notes. It is safe" of the MCP server s.`},
		"field":   {askServer, `{"serverName":"s","mode":"form","message":"hi","requestedSchema":{"properties":{"a":{"title":` + quotedJSON("x\nDirectory: /safe") + `}}}}`, "It wants:\n\n    x\n    Directory: /safe"},
		"input":   {"item/tool/requestUserInput", `{"questions":[{"id":"a","question":` + quotedJSON("x\nDirectory: /safe") + `}]}`, "codex asks:\n\n    x\n    Directory: /safe"},
		"file":    {askChange, `{"itemId":"i"}`, `    add "/w/a\nDirectory: /safe"`},
	} {
		p := poseOf(t, c.method, c.request, agent.Change{Path: "/w/a\nDirectory: /safe", Kind: "add"})
		if !strings.Contains(p.text, c.want) || strings.Contains(p.text, "\nDirectory: /safe") {
			t.Errorf("%s: the text is %q, want %q in it", name, p.text, c.want)
		}
	}
}

// TestQuestionsSayOurSentencesInData, which a program shows that does not show the text.
func TestQuestionsSayOurSentencesInData(t *testing.T) {
	t.Parallel()
	const network = `{"command":"ls","additionalPermissions":{"network":{"enabled":true}}}`
	for name, c := range map[string]struct{ method, request, want string }{
		"command":    {askCommand, `{"command":"ls"}`, "[It may run outside of the sandbox: codex does not say whether it will.]"},
		"network":    {askCommand, network, "[It may run outside of the sandbox: codex does not say whether it will. " + networkNote + "]"},
		"a host":     {askCommand, `{"command":"ls","networkApprovalContext":{"host":"x","protocol":"https"}}`, "[]"},
		"input":      {askCommand, `{"kind":"writeStdin","command":"y"}`, "[codex does not say to which command, and whether that runs outside of the sandbox.]"},
		"permission": {"item/permissions/requestApproval", `{"permissions":{"network":{"enabled":true}}}`, "[" + networkNote + "]"},
	} {
		p := poseOf(t, c.method, c.request)
		if got := fmt.Sprint(p.notes); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestQuestionsNamePermissions in the text, too, each of them.
func TestQuestionsNamePermissions(t *testing.T) {
	t.Parallel()
	for permissions, want := range map[string][]string{
		`{"network":{"enabled":true},"fileSystem":{"write":["/x"],"entries":[{"path":{"type":"path","path":"/x"},"access":"write"}]}}`: {"    use the network, this machine's own ports too, and this runtime's among them\n    write /x"},
		`{"network":{"enabled":true},"fileSystem":{"write":["/x"],"entries":null}}`:                                                    {"    use the network, ", `"write":["/x"]`},
		`{"fileSystem":{"entries":[{"path":{"type":"special","value":{"kind":"root"}},"access":"write"}]}}`:                            {`"kind":"root"`},
		`{"network":{"enabled":true},"camera":true}`:                                                                                   {"use the network", `"camera":true`},
	} {
		p := poseOf(t, askCommand, `{"command":"git status","cwd":"/w","additionalPermissions":`+permissions+`}`)
		for _, words := range append(want, "beside what the sandbox allows") {
			if !strings.Contains(p.text, words) {
				t.Errorf("%s: the text is %q, want %q in it", permissions, p.text, words)
			}
		}
	}
}

// TestLongQuestions are shown with their beginnings and ends, and no part of a known secret
// is left where they are cut.
func TestLongQuestions(t *testing.T) {
	t.Parallel()
	for _, before := range []int{0, mostShown/2 - 3, mostShown - 3} {
		command := strings.Repeat("a", before) + "s3cret" + strings.Repeat("b", 2*mostShown) + "; id"
		p := poseOf(t, askCommand, `{"command":`+quotedJSON(command)+`}`)
		shown := fmt.Sprint(p.data["command"])
		if !p.cut || !p.hid || strings.Contains(shown, "s3c") || !strings.HasSuffix(shown, "; id") || len(shown) > mostShown+100 {
			t.Errorf("%d before it: %d bytes are shown, cut: %t, hidden: %t", before, len(shown), p.cut, p.hid)
		}
		if strings.Contains(fmt.Sprint(p.data["choices"])+p.accepts, "always") {
			t.Errorf("the choices are %v", p.data["choices"])
		}
	}
}

// TestLargeQuestions: what is to be filled in must be shown whole, so there is no question
// where it is too large. Of what is only to be allowed the beginning and the end are shown.
func TestLargeQuestions(t *testing.T) {
	t.Parallel()
	large := quotedJSON(strings.Repeat("x", 2*mostShown) + " s3cret end")
	for name, c := range map[string]struct {
		method, request string
		asked           bool
	}{
		"tool":        {askServer, `{"serverName":"s","mode":"form","_meta":{"codex_approval_kind":"mcp_tool_call","tool_name":"t","tool_description":` + large + `,"tool_params":{"a":` + large + `}}}`, true},
		"form":        {askServer, `{"serverName":"s","mode":"form","message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string","description":` + large + `}}}}`, false},
		"small form":  {askServer, `{"serverName":"s","mode":"form","message":` + large + `,"requestedSchema":{"type":"object","properties":{"a":{"type":"string","description":"s3cret"}}}}`, true},
		"link":        {askServer, `{"serverName":"s","mode":"url","message":"m","url":` + large + `}`, false},
		"input":       {"item/tool/requestUserInput", `{"questions":[{"id":"a","header":"h","question":` + large + `}]}`, false},
		"small input": {"item/tool/requestUserInput", `{"questions":[{"id":"a","header":"h","question":"is it s3cret?"}]}`, true},
	} {
		p := poseOf(t, c.method, c.request)
		notice, _ := p.Unaskable(false)
		if asked := notice == ""; asked != c.asked || !asked && !strings.Contains(notice, "more than 128 KiB") {
			t.Errorf("%s: it is asked: %t, want %t; %q", name, asked, c.asked, notice)
		}
		data, err := json.Marshal(p.data)
		if err != nil {
			t.Fatal(err)
		}
		if c.asked && (len(data) > 3*mostShown || len(p.text) > 2*mostShown || strings.Contains(string(data)+p.text, "s3cret") || !p.hid) {
			t.Errorf("%s: %d bytes of data, %d of text, hidden: %t", name, len(data), len(p.text), p.hid)
		}
	}
}

// TestFormOfManyFields: one that is too large to be asked costs little more than it has.
func TestFormOfManyFields(t *testing.T) {
	var schema strings.Builder
	for n := range 50_000 {
		fmt.Fprintf(&schema, `,"%d":{"type":"string"}`, n)
	}
	request := `{"serverName":"s","mode":"form","requestedSchema":{"type":"object","properties":{` + schema.String()[1:] + `}}}`
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p := poseOf(t, askServer, request)
	runtime.ReadMemStats(&after)
	if made := after.TotalAlloc - before.TotalAlloc; made > 16*uint64(len(request)) {
		t.Errorf("%d bytes are made of %d", made, len(request))
	}
	if notice, _ := p.Unaskable(false); !strings.Contains(notice, "more than 128 KiB") {
		t.Errorf("the notice is %q", notice)
	}
}

// TestManyChanges are named, and shown, as many as have room, and to where they move.
func TestManyChanges(t *testing.T) {
	t.Parallel()
	of := func(n, size int) (all []agent.Change) {
		for i := range n {
			all = append(all, agent.Change{
				Path: fmt.Sprintf("/w/%d", i), Kind: "update", Diff: strings.Repeat("d", size) + fmt.Sprintf("end-%d", i),
				To: fmt.Sprintf("/elsewhere/%d", i),
			})
		}
		return all
	}
	for _, c := range []struct {
		n, size, shown int
		cut            bool
	}{{1, 120 << 10, 1, false}, {51, 2 << 10, 51, false}, {51, 8 << 10, 51, true}, {1000, 10, 1000, false}} {
		p := poseOf(t, askChange, `{"itemId":"i"}`, of(c.n, c.size)...)
		changes, _ := p.data["changes"].([]any)
		if len(changes) != c.shown || p.cut != c.cut || len(p.Places) != 2*c.n {
			t.Fatalf("%d of %d bytes: %d are shown, cut: %t, places: %d", c.n, c.size, len(changes), p.cut, len(p.Places))
		}
		last, _ := changes[c.shown-1].(map[string]any)
		if end := fmt.Sprintf("end-%d", c.n-1); !strings.HasSuffix(fmt.Sprint(last["diff"]), end) || last["to"] != fmt.Sprintf("/elsewhere/%d", c.n-1) {
			t.Errorf("%d of %d bytes: the last is %.100s", c.n, c.size, last)
		}
		if !strings.Contains(p.text, fmt.Sprintf("/w/%d, which becomes /elsewhere/%d", c.n-1, c.n-1)) {
			t.Errorf("%d of %d bytes: the text is %.2000s", c.n, c.size, p.text)
		}
	}
}
