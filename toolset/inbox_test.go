package toolset_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/toolset"
)

// A box is an inbox that notes what is done with it.
type box struct {
	beside bool
	done   []string
	refuse error
}

func (b *box) did(format string, args ...any) (string, error) {
	b.done = append(b.done, fmt.Sprintf(format, args...))
	return "done", b.refuse
}

func (b *box) Keeps() bool { return !b.beside }

func (b *box) Wait(_ context.Context, limit time.Duration) (string, error) {
	return b.did("wait %s", limit)
}

func (b *box) Peek(_ context.Context, p toolset.Peek) (string, error) {
	return b.did("peek %+v", p)
}

func (b *box) Pop(_ context.Context, workspace, id string) (string, error) {
	return b.did("pop %s%s", workspace, id)
}

func (b *box) Reply(_ context.Context, workspace, id, text string, files []string) (string, error) {
	return b.did("reply %s%s %s %v", workspace, id, text, files)
}

func (b *box) Telling(_ context.Context, workspace, peer, text string) (func(error), error) {
	_, err := b.did("telling %s %s %s", workspace, peer, text)
	return func(err error) { _, _ = b.did("told %v", err) }, err
}

func withInbox(b *box) func(*toolset.Config) { return func(c *toolset.Config) { c.Inbox = b } }

// TestInboxTools: what is asked of an inbox, within its bounds.
func TestInboxTools(t *testing.T) {
	for call1, want := range map[string]string{
		`wait_for_message {}`:                                                                         "wait 1m0s",
		`wait_for_message {"timeout_secs":0.5}`:                                                       "wait 500ms",
		`wait_for_message {"timeout_secs":9999}`:                                                      "wait 5m0s",
		`wait_for_message {"timeout_secs":-1}`:                                                        "wait 0s",
		`inbox_peek {}`:                                                                               "peek {Limit:10 Offset:0 Kind: ID: Workspace: From:0}",
		`inbox_peek {"limit":9999}`:                                                                   "peek {Limit:50 Offset:0 Kind: ID: Workspace: From:0}",
		`inbox_peek {"activity_id":" m ","from":7}`:                                                   "peek {Limit:10 Offset:0 Kind: ID:m Workspace: From:7}",
		`inbox_peek {"offset":9,"kind":"canvas_user"}`:                                                "peek {Limit:10 Offset:9 Kind:canvas_user ID: Workspace: From:0}",
		`inbox_peek {"kind":"user"}`:                                                                  "",
		`inbox_pop {"activity_id":"m","arrival_workspace_id":" w/"}`:                                  "pop w/m",
		`reply_to_message {"activity_id":"m","message":"hi","arrival_workspace_id":"w/"}`:             "reply w/m hi []",
		`inbox_pop {"activity_id":" m"}`:                                                              "pop m",
		`inbox_pop {"activity_id":" "}`:                                                               "",
		`reply_to_message {"activity_id":"m","message":"hi"}`:                                         "reply m hi []",
		`reply_to_message {"activity_id":"m","message":" "}`:                                          "",
		`reply_to_message {"activity_id":"","message":"hi"}`:                                          "",
		`reply_to_message {"activity_id":"m","message":"hi","attachments":["/workspace/report.pdf"]}`: "reply m hi [/workspace/report.pdf]",
		`reply_to_message {"activity_id":"m","message":"hi","attachments":["/etc/passwd"]}`:           "",
	} {
		b := &box{}
		name, arguments, _ := strings.Cut(call1, " ")
		got := call(t, tools(t, &double{}, withInbox(b)), name, arguments)
		if strings.Join(b.done, ",") != want || got.Failed != (want == "") {
			t.Errorf("%s: %q, %+v", call1, b.done, got)
		}
	}
	if got := call(t, tools(t, &double{}, withInbox(&box{beside: true})), "reply_to_message", `{"activity_id":"m","message":"hi"}`); !strings.Contains(got.Text, "there is no tool") {
		t.Errorf("beside another process: %+v", got)
	}
}

// TestTelling: an inbox hears that a sender is about to be told something before that is sent, and what came of it; what it
// cannot note is not sent.
func TestTelling(t *testing.T) {
	const peer = "22222222-2222-4222-8222-222222222222"
	sent := func(context.Context, string, platform.Message) (platform.Reply, error) {
		return platform.Reply{Text: "ok"}, nil
	}
	for name, c := range map[string]struct{ arguments, want string }{
		"send_message_to_user": {`{"message":"hi"}`, "telling " + self + "  hi,told <nil>"},
		"delegate_task":        {`{"workspace_id":"` + peer + `","task":"work"}`, "telling " + self + " " + peer + " work,told <nil>"},
		"delegate_task_async":  {`{"workspace_id":"` + peer + `","task":"work"}`, "telling " + self + " " + peer + " work,told <nil>"},
	} {
		d := &double{send: sent, delegate: func(platform.Task) (platform.Delegated, error) { return platform.Delegated{ID: "d"}, nil }}
		b := &box{}
		call(t, tools(t, d, withInbox(b)), name, c.arguments)
		if got := strings.Join(b.done, ","); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
		n := len(d.done)
		b.refuse = errors.New("no room")
		if got := call(t, tools(t, d, withInbox(b)), name, c.arguments); !got.Failed && !strings.HasPrefix(got.Text, "DELEGATION FAILED") || len(d.done) != n {
			t.Errorf("%s, which cannot be noted: %+v, %v", name, got, d.done[n:])
		}
	}
}

// TestSeveralWorkspaces: a call names the workspace that acts, and one that does not is told which there are.
func TestSeveralWorkspaces(t *testing.T) {
	one, two := &double{}, &double{}
	b := &box{}
	sets := []*toolset.Set{
		tools(t, one, withInbox(b)),
		tools(t, two, func(c *toolset.Config) { c.Inbox, c.Workspace = b, "w2" }),
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "s"}, nil)
	toolset.RegisterAll(server, sets...)
	here, there := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), here, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "c"}, nil).Connect(t.Context(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	text := func(tool string, arguments any) string {
		t.Helper()
		res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
		if err != nil {
			t.Fatal(err)
		}
		return res.Content[0].(*mcp.TextContent).Text
	}
	if got := text("send_message_to_user", map[string]any{"message": "hi", "workspace_id": "W2"}); got != "Message sent to user" || len(one.done) != 0 || len(two.done) != 1 {
		t.Errorf("%s, %v, %v", got, one.done, two.done)
	}
	for _, id := range []any{nil, "w3", 7} {
		if got := text("create_request", map[string]any{"kind": "task", "title": "t", "source_workspace_id": id}); !strings.Contains(got, "it is one of "+self+", w2") {
			t.Errorf("%v: %s", id, got)
		}
	}
	if got := text("wait_for_message", map[string]any{}); got != "done" || len(b.done) != 3 {
		t.Errorf("%s, %q", got, b.done)
	}
	listed, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range listed.Tools {
		schema, _ := json.Marshal(tool.InputSchema)
		var s struct{ Required []string }
		_ = json.Unmarshal(schema, &s)
		names := slices.Contains(s.Required, "source_workspace_id") || slices.Contains(s.Required, "workspace_id")
		if own := strings.Contains(tool.Name, "inbox") || strings.Contains(tool.Name, "wait") || strings.Contains(tool.Name, "reply") || tool.Name == "get_runtime_identity"; names == own {
			t.Errorf("%s: %s", tool.Name, schema)
		}
	}
}
