package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// askerVar makes the test binary an MCP server, whose tool asks back.
const askerVar = "BROWSER_TEST_ASKER"

func serveAsker() {
	server := mcp.NewServer(&mcp.Implementation{Name: "asker", Version: "1"}, nil)
	schema := map[string]any{
		"type": "object", "required": []string{"name", "size"},
		"properties": map[string]any{
			"name":  map[string]any{"type": "string", "title": "Your name", "description": "as it is to be printed"},
			"size":  map[string]any{"type": "string", "enum": []string{"small", "large"}},
			"count": map[string]any{"type": "integer", "minimum": 1},
			"gift":  map[string]any{"type": "boolean", "title": "A gift?"},
		},
	}
	mcp.AddTool(server, &mcp.Tool{Name: "form", Description: "asks for a form"},
		func(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			res, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "What shall it be?", RequestedSchema: schema})
			if err != nil {
				return nil, nil, err
			}
			said := fmt.Sprintf("%s %v %v %v %v", res.Action, res.Content["name"], res.Content["size"], res.Content["count"], res.Content["gift"])
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: said}}}, nil, nil
		})
	_ = server.Run(context.Background(), &mcp.StdioTransport{})
}

const asksColour = `call request_user_input {"questions":[{"id":"colour","header":"Colour","question":"Which colour shall it have?",` +
	`"options":[{"label":"red","description":"warm"},{"label":"blue","description":"cold"}]}]}`

// TestForms fills in the forms of codex and of a tool.
func TestForms(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, "CODEX_HOME="+home(t, fmt.Sprintf(`
[features]
default_mode_request_user_input = true
[mcp_servers.asker]
command = %q
env = { %s = "1" }
`, exe, askerVar)))
	p := r.console(t)

	p.begin("colours", asksColour)
	p.sees(".question.open", "Which colour shall it have?")
	p.sees(".question.open", "cold")
	p.picture("question")
	p.click(".question.open input[value=blue]")
	p.press(".question.open", "Send answer")
	p.sees("#task-state", "Done")
	p.sees(".message", "blue")
	p.sees(".question", "blue")

	p.begin("forms", `call mcp__asker::form {}`)
	p.until("a question", "document.querySelector('.question.open')")
	if p.eval("Boolean([...document.querySelectorAll('.question.open button')].find((b) => b.innerText === 'Accept'))") == "true" {
		p.press(".question.open", "Accept") // the tool itself
	}
	p.sees(".question.open", "What shall it be?")
	p.press(".question.open", "Send") // the browser points at what is missing
	p.until("the form to be still there", "document.querySelector('.question.open :invalid')")
	p.write(".question.open input[type=text]", "Ada")
	p.eval("(() => { const s = document.querySelector('.question.open select'); s.value = 'large'; s.dispatchEvent(new Event('change', {bubbles: true})); return 1 })()")
	p.write(".question.open input[type=number]", "3")
	p.click(".question.open input[type=checkbox]")
	p.picture("form")
	p.press(".question.open", "Send")
	p.sees("#task-state", "Done")
	p.sees(".message", "accept Ada large 3 true")
}

// TestLongChange is shown to its end, and says that a secret in it is not.
func TestLongChange(t *testing.T) {
	t.Parallel()
	const known = "a-token-that-the-runtime-knows"
	p := start(t, "GH_TOKEN="+known).console(t)
	file := filepath.Join(codextest.Dir(t, "outside"), "file")
	patch, err := json.Marshal("apply_patch <<'EOF'\n" + fakemodel.AddFile(file, "# "+known+"\n"+strings.Repeat("line\n", 500)+"the-end\n") + "EOF")
	if err != nil {
		t.Fatal(err)
	}
	p.begin("long", `call exec_command {"cmd":`+string(patch)+`}`)
	p.sees(".question.open", "the-end")
	p.sees(".question.open", "Where *** stands")
	p.press(".question.open", "Decline")
	p.sees("#task-state", "Done")
}
