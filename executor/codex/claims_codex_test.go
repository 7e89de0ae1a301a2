package codex_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestServerPosesAsCodex: codex hands on what a server puts into its question, so it can say that
// codex asks about a call that there is not. It is shown as what it is.
func TestServerPosesAsCodex(t *testing.T) {
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), withMCP())
	for i, c := range []struct{ call, kind, words, answer, want string }{
		{`{"tool":"list","message":"Delete all?"}`, "form", "The MCP server asker asks: Delete all?\n\nIt says that it is about a call of the tool list, but no such call is known here.\n\n    {\"path\":\".\"}", "yes", "accept"},
		{`{"tool":"spoof","message":"Delete all?"}`, "form", "asker asks: Delete all?", "no", "decline"}, // that runs, with other arguments
		{`{"tool":"list","message":"Log in","field":"Your password"}`, "form", "asker asks: Log in\n\nIt wants: Your password", "decline", "decline"},
	} {
		id := fmt.Sprint("j", i)
		w := submit(t, e, id, "one", "call mcp__asker::spoof "+c.call)
		q := w.asked(t, 1)
		if q.Kind != c.kind || !strings.Contains(q.Text, c.words) || strings.Contains(q.Text, "codex asks") {
			t.Errorf("%s: asked %+v", c.call, q)
		}
		mustReply(t, e, id, q, c.answer)
		if end := w.wait(t); !strings.Contains(said(end), "the answer: "+c.want) {
			t.Errorf("%s: the server is told %q", c.call, said(end))
		}
	}
}

// TestClaimsWhereEverythingIsAllowed: codex itself says yes to what has no field, and no to the
// rest, whatever it says of itself.
func TestClaimsWhereEverythingIsAllowed(t *testing.T) {
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), func(c *config) {
		withMCP()(c)
		c.Thread.ApprovalPolicy, c.Thread.Sandbox = agent.Never, agent.FullAccess
	})
	for call, want := range map[string]string{
		callSure: "accept",
		`call mcp__asker::spoof {"tool":"list","message":"Log in"}`:                         "accept",
		`call mcp__asker::spoof {"tool":"list","message":"Log in","field":"Your password"}`: "decline",
	} {
		if end := submit(t, e, call, "one", call).wait(t); !strings.Contains(said(end), "the answer: "+want) {
			t.Errorf("%s: the server is told %q", call, said(end))
		}
	}
}

// TestCallsAreKnown before codex asks about them, and all items are heard of as they begin and end:
// those of scripts and of subagents, too.
func TestCallsAreKnown(t *testing.T) {
	t.Parallel()
	model := modeltest.Start(t, func(t *fakemodel.Turn) {
		outputs := len(t.NewToolOutputs())
		script := strings.Contains(string(t.Body), "by a script")
		switch child := t.FromSubagent(); {
		case strings.HasPrefix(t.LastUserText(), "spawn") && !child && outputs == 0:
			message, _ := json.Marshal(map[string]any{"task_name": "sub", "message": t.LastUserText()})
			t.CallIn("collaboration", "spawn_agent", string(message))
		case strings.HasPrefix(t.LastUserText(), "spawn") && !child && outputs == 1:
			t.CallIn("collaboration", "wait_agent", `{"timeout_ms":30000}`)
		case outputs > 0:
			t.Say("done")
		case script:
			t.CallCustom("exec", "text(JSON.stringify(await tools.mcp__asker__plain({})))")
		default:
			t.CallIn("mcp__asker", "plain", "{}")
		}
	})
	for _, settings := range [][]string{nil, {"-c", `model="gpt-6.1-sol"`}} {
		var begins, ends atomic.Int32
		e := onCodex(t, model, func(c *config) {
			withMCP(settings...)(c)
			c.OnItem = func(item agent.Item) {
				switch {
				case item.Kind != agent.KindMCP:
				case item.Status == "inProgress":
					begins.Add(1)
				default:
					ends.Add(1)
				}
			}
		})
		for i, what := range []string{"turn", "spawn"} {
			if settings != nil {
				what += " by a script"
			}
			w := submit(t, e, what, what, what)
			q := w.asked(t, 1)
			if q.Kind != "tool" || !strings.Contains(q.Text, "codex asks whether it may call the tool plain of the MCP server asker.\n\n    {}") || strings.Contains(q.Text, "words") {
				t.Errorf("%s: asked %+v", what, q)
			}
			progtest.WaitFor(t, what+"'s call to be heard of", func() bool { return begins.Load() == int32(i+1) })
			if got := ends.Load(); got != int32(i) {
				t.Errorf("%s: %d calls have ended before the answer", what, got)
			}
			mustReply(t, e, what, q, "yes")
			wantEnd(t, w.wait(t), agent.Completed, "")
			progtest.WaitFor(t, "its end to be heard of", func() bool { return ends.Load() == int32(i+1) })
		}
	}
}
