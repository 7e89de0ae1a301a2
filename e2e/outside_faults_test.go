package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// TestMCPHostOfSeveral: one host is the agent of several workspaces; each message says at which it has arrived, and a call
// says for which it is made.
func TestMCPHostOfSeveral(t *testing.T) {
	t.Parallel()
	p := fakeplatform.Start(t, fakeplatform.AUG)
	eve := p.Add(fakeplatform.Workspace{Name: "Eve", Poll: true})
	ada := p.Add(fakeplatform.Workspace{Name: "Ada", Poll: true})
	list, _ := json.Marshal([]object{{"id": ada.ID(), "token": ada.Token(), "platform_url": p.URL}, {"id": eve.ID(), "token": eve.Token()}})
	x := anMCPHost(t, p, "MOLECULE_WORKSPACES="+string(list), "WORKSPACE_ID=", "MOLECULE_WORKSPACE_TOKEN=")
	if _, err := eve.Say(t.Context(), "to Eve"); err != nil {
		t.Fatal(err)
	}
	id, _, message := x.waits()
	if message["arrival_workspace_id"] != eve.ID() {
		t.Errorf("%v", message)
	}
	if got := x.text("send_message_to_user", object{"message": "to nobody"}); !strings.Contains(got, "name the workspace that acts in workspace_id") {
		t.Errorf("without a workspace: %s", got)
	}
	x.text("send_message_to_user", object{"message": "by a tool", "workspace_id": ada.ID()})
	x.reply(id, "by a reply")
	progtest.WaitFor(t, "both to be told", func() bool { return len(ada.Notices()) == 1 && len(eve.Notices()) == 1 })
	if ada.Notices()[0].Message != "by a tool" || eve.Notices()[0].Message != "by a reply" {
		t.Errorf("told: %v, %v", ada.Notices(), eve.Notices())
	}
	eve.Delete()
	progtest.WaitFor(t, "one workspace to be left", func() bool {
		return strings.Contains(x.reply(id, "again")["note"].(string), "has the answer") && eve.Status() != "online"
	})
	if _, err := ada.Say(t.Context(), "to Ada"); err != nil {
		t.Fatal(err)
	}
	if _, text, _ := x.waits(); text != "to Ada" {
		t.Errorf("got %q", text)
	}
}

// TestMCPHostFiles: a file of the user's is on the disk before its message is shown, and one of the host's goes with its answer.
func TestMCPHostFiles(t *testing.T) {
	t.Parallel()
	x := anMCPHost(t, fakeplatform.Start(t, fakeplatform.AUG))
	work := ""
	for _, e := range x.environ {
		if dir, ok := strings.CutPrefix(e, "RUNTIME_WORKDIR="); ok {
			work = dir
		}
	}
	id := x.handle.AddPending("notes.txt", "text/plain", []byte("the notes"))
	uri := "platform-pending:" + x.handle.ID() + "/" + id
	body, _ := json.Marshal(object{"params": object{"message": object{"parts": []any{
		object{"kind": "text", "text": "read this"}, object{"kind": "file", "file": object{"uri": uri, "name": "notes.txt", "mimeType": "text/plain"}},
	}}}})
	x.handle.AddRow(fakeplatform.Row{Type: "a2a_receive", Method: "message/send", Status: "ok", RequestBody: body})
	message, _, shown := x.waits()
	path, _ := at(shown, "attachments", 0, "path").(string)
	if content, err := os.ReadFile(path); err != nil || string(content) != "the notes" || !strings.HasPrefix(path, work) {
		t.Errorf("%v: %q, %v", shown, content, err)
	}
	if err := os.WriteFile(filepath.Join(work, "answer.txt"), []byte("read"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := object{"activity_id": message, "message": "here", "attachments": []string{"none.txt"}}
	if got := x.text("reply_to_message", args); !strings.Contains(got, "nothing was answered") {
		t.Errorf("a file that is not there: %s", got)
	}
	args["attachments"] = []string{"answer.txt"}
	if got := x.call("reply_to_message", args); got["replied"] != true {
		t.Errorf("%v", got)
	}
	x.told(1)
	if files := x.handle.Notices()[0].Attachments; len(files) != 1 || files[0].Name != "answer.txt" {
		t.Errorf("attached: %v", files)
	}
}

// TestMCPHostOutage: while the platform refuses the token, or answers with errors, the host is told so and the platform is
// left in peace; what was kept is sent afterwards.
func TestMCPHostOutage(t *testing.T) {
	t.Parallel()
	x := anMCPHost(t, fakeplatform.Start(t, fakeplatform.AUG))
	x.say("hello")
	id, _, _ := x.waits()
	undo := x.platform.Behave("*", fakeplatform.Refuse(500))
	if got := x.reply(id, "hi"); got["replied"] != true || got["sent"] != false {
		t.Errorf("%v", got)
	}
	undo()
	x.told(1)
	x.acked(1)
	x.handle.Rotate()
	var got object
	progtest.WaitFor(t, "the host to be told", func() bool {
		got = x.call("wait_for_message", object{"timeout_secs": 0.5})
		return got["warning"] != nil
	})
	if warning, _ := got["warning"].(string); !strings.Contains(warning, x.handle.ID()) || strings.Contains(warning, "Bearer") {
		t.Errorf("warning: %s", warning)
	}
	began, n := time.Now(), len(x.platform.Requests(""))
	x.call("wait_for_message", object{"timeout_secs": 2})
	if more := len(x.platform.Requests("")) - n; more > 40 {
		t.Errorf("%d requests in %s, of a workspace without a token", more, time.Since(began))
	}
}

// TestMCPHostWaits: two waits show the same message; one that is given up is over; one that goes on does not keep the program.
func TestMCPHostWaits(t *testing.T) {
	t.Parallel()
	x := anMCPHost(t, fakeplatform.Start(t, fakeplatform.AUG))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := x.session.CallTool(ctx, &mcp.CallToolParams{Name: "wait_for_message"}); err == nil {
		t.Error("a wait that is given up has an end")
	}
	shown := make(chan string)
	for range 2 {
		go func() {
			res, err := x.session.CallTool(t.Context(), &mcp.CallToolParams{Name: "wait_for_message"})
			if err != nil {
				t.Error(err)
				shown <- ""
				return
			}
			var m object
			_ = json.Unmarshal([]byte(res.Content[0].(*mcp.TextContent).Text), &m)
			id, _ := m["activity_id"].(string)
			shown <- id
		}()
	}
	x.say("hello")
	one, two := <-shown, <-shown
	if one == "" || one != two {
		t.Errorf("two waits show %q and %q", one, two)
	}
	if x.reply(one, "one")["replied"] != true || x.reply(two, "two")["replied"] != false {
		t.Error("both answers were taken")
	}
	if told := x.told(1); len(told) != 1 || told[0] != "one" {
		t.Errorf("the user was told %q", told)
	}
}

// TestMCPHostGoneInAWait: a host that dies while it waits leaves no program behind.
func TestMCPHostGoneInAWait(t *testing.T) {
	t.Parallel()
	x := anMCPHost(t, fakeplatform.Start(t, fakeplatform.AUG))
	_ = x.session.Close()
	cmd := exec.Command(binary, "mcp")
	cmd.Env, cmd.Stderr = x.environ, t.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	registered := len(x.platform.Requests("POST /registry/register"))
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"h","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait_for_message","arguments":{"timeout_secs":300}}}`,
	} {
		if _, err := in.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	progtest.WaitFor(t, "the workspace to be registered", func() bool { return len(x.platform.Requests("POST /registry/register")) > registered })
	_ = in.Close()
	late := time.AfterFunc(progtest.Patience, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	if err := cmd.Wait(); err != nil {
		t.Errorf("it has ended with %v", err)
	}
}

// TestMCPHostLarge: of a message that is too much for one call there is more to be had.
func TestMCPHostLarge(t *testing.T) {
	t.Parallel()
	x := anMCPHost(t, fakeplatform.Start(t, fakeplatform.AUG))
	x.say(strings.Repeat("\x01", 40_000) + strings.Repeat("a", 100_000) + "end")
	id, text, message := x.waits()
	from := len([]rune(text))
	if note, _ := message["note"].(string); !strings.Contains(note, "Of the 140003 characters") {
		t.Errorf("note: %s", note)
	}
	all := text
	for n := 0; from < 140_003 && n < 30; n++ {
		piece, _ := x.call("inbox_peek", object{"activity_id": id, "from": from})["text"].(string)
		from += len([]rune(piece))
		all += piece
	}
	if len([]rune(all)) != 140_003 || !strings.HasSuffix(all, "aend") {
		t.Errorf("there are %d characters", len([]rune(all)))
	}
}

// TestMCPBeside: where another process has the messages, the inbox is never kept, and what is said of it is true.
func TestMCPBeside(t *testing.T) {
	t.Parallel()
	x := anMCPHost(t, fakeplatform.Start(t, fakeplatform.AUG))
	_ = x.session.Close()
	x.start("--inbox=beside")
	if got := x.text("wait_for_message", nil); !strings.Contains(got, "No other process on this machine keeps it now") {
		t.Errorf("beside nothing: %s", got)
	}
	tools, err := x.session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools.Tools {
		if tool.Name == "reply_to_message" {
			t.Error("it offers to answer")
		}
	}
	home := strings.TrimPrefix(x.environ[1], "HOME=")
	state, err := store.Open(t.Context(), store.Config{Dir: filepath.Join(home, ".codex-channel-molecule"), Holds: []string{"another"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := x.text("wait_for_message", nil); !strings.Contains(got, "keeps it now: there is nothing to wait for here") {
		t.Errorf("beside a channel: %s", got)
	}
	other := x.beside()
	if got := other.text("wait_for_message", nil); !strings.Contains(got, "for other workspaces (another)") {
		t.Errorf("where another workspace's inbox is kept: %s", got)
	}
	if err := state.Close(); err != nil {
		t.Fatal(err)
	}
	if n := len(x.platform.Requests("POST /registry/register")); n > 1 {
		t.Errorf("registered %d times", n)
	}
}

// TestMCPHostYields: a runtime that the platform pushes messages to has them, also where it is started later.
func TestMCPHostYields(t *testing.T) {
	t.Parallel()
	x := anMCPHost(t, fakeplatform.Start(t, fakeplatform.AUG), "CONFIGS_DIR="+t.TempDir())
	x.nothing()
	serves := ""
	for _, e := range x.environ {
		if dir, ok := strings.CutPrefix(e, "CONFIGS_DIR="); ok {
			serves = filepath.Join(dir, ".runtime")
		}
	}
	x.say("hello")
	id, _, _ := x.waits()
	state, err := store.Open(t.Context(), store.Config{Dir: serves, Holds: []string{x.handle.ID()}})
	if err != nil {
		t.Fatal(err)
	}
	progtest.WaitFor(t, "the inbox to be given up", func() bool {
		return strings.Contains(x.text("wait_for_message", object{"timeout_secs": 0.1}), "keeps the inbox of this workspace")
	})
	if got := x.reply(id, "hi"); got["replied"] != false || !strings.Contains(got["note"].(string), "keeps the inbox") {
		t.Errorf("an answer beside it: %v", got)
	}
	if err := state.Close(); err != nil {
		t.Fatal(err)
	}
	progtest.WaitFor(t, "the inbox to be taken again", func() bool {
		return strings.Contains(x.text("wait_for_message", object{"timeout_secs": 0.1}), id)
	})
	x.reply(id, "hi")
	if told := x.told(1); len(told) != 1 || told[0] != "hi" {
		t.Errorf("the user was told %q", told)
	}
}

// TestMCPHostGivesWayToAChannel: a channel that is started has the messages, what was shown among them, and the
// host has those that come when the channel has died. Each is answered once.
func TestMCPHostGivesWayToAChannel(t *testing.T) {
	t.Parallel()
	state := codextest.Dir(t, "state")
	x := anMCPHost(t, fakeplatform.Start(t, fakeplatform.AUG), "RUNTIME_STATE_DIR="+state)
	x.nothing()
	x.say("say from codex")
	id, _, _ := x.waits()
	channel := progtest.Launch(t, binary, []string{"channel"}, append(x.environ, "RUNTIME_MODEL=scripted")...)
	if told := x.told(1); len(told) != 1 || !strings.Contains(told[0], "from codex") {
		t.Errorf("the user was told %q", told)
	}
	if got := x.reply(id, "from the host"); got["replied"] != false || !strings.Contains(fmt.Sprint(got["note"]), "runtime channel") {
		t.Errorf("an answer beside the channel: %v", got)
	}
	channel.Kill()
	x.say("hello")
	progtest.WaitFor(t, "the host to have the inbox again", func() bool {
		return strings.Contains(x.text("wait_for_message", object{"timeout_secs": 0.1}), "hello")
	})
	next, _, _ := x.waits()
	x.reply(next, "from the host")
	if told := x.told(2); len(told) != 2 || told[1] != "from the host" {
		t.Errorf("the user was told %q", told)
	}
}

// TestMCPHostNoPolling: of a platform that brings no messages the host is told so.
func TestMCPHostNoPolling(t *testing.T) {
	t.Parallel()
	x := anMCPHost(t, fakeplatform.Start(t, fakeplatform.APR))
	progtest.WaitFor(t, "the host to be told", func() bool {
		warning, _ := x.call("wait_for_message", object{"timeout_secs": 0.2})["warning"].(string)
		return strings.Contains(warning, "poll")
	})
}

// TestMCPHostRefused: an answer that the platform does not take is kept, and can be sent again while the host runs.
func TestMCPHostRefused(t *testing.T) {
	t.Parallel()
	x := anMCPHost(t, fakeplatform.Start(t, fakeplatform.AUG))
	x.say("hello")
	id, _, _ := x.waits()
	x.platform.Behave("POST /workspaces/*/notify", fakeplatform.Refuse(400, `{"error":"not liked"}`).Times(1))
	if got := x.reply(id, "hi"); got["replied"] != true || got["sent"] != false || !strings.Contains(got["note"].(string), "runtime channel dead") {
		t.Errorf("%v", got)
	}
	if told := x.told(1); !strings.Contains(told[0], "[agent error]") || !strings.Contains(told[0], "not liked") {
		t.Errorf("the user was told %q", told)
	}
	dead := func(args ...string) string {
		cmd := exec.Command(binary, append([]string{"channel", "dead"}, args...)...)
		cmd.Env = x.environ
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	if got := dead(); !strings.Contains(got, "not liked") {
		t.Errorf("dead letters: %s", got)
	}
	dead("retry", id)
	if told := x.told(2); told[1] != "hi" {
		t.Errorf("the user was told %q", told)
	}
	x.acked(1)
}

// TestMCPHostInboxFails: of an inbox that cannot be read, on a platform that takes everything else, the host is told.
func TestMCPHostInboxFails(t *testing.T) {
	t.Parallel()
	x := anMCPHost(t, fakeplatform.Start(t, fakeplatform.AUG))
	x.nothing()
	undo := x.platform.Behave("GET /workspaces/*/activity", fakeplatform.Refuse(500))
	warned := func() bool {
		warning, _ := x.call("wait_for_message", object{"timeout_secs": 0.2})["warning"].(string)
		return strings.Contains(warning, "its inbox cannot be read")
	}
	progtest.WaitFor(t, "the host to be told", warned)
	undo()
	progtest.WaitFor(t, "the warning to end", func() bool { return !warned() })
}
