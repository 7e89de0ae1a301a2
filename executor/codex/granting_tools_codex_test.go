package codex_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

const (
	callPlain = "call mcp__asker::plain {}"
	callSure  = "call mcp__asker::sure {}"
)

// TestToolOfANarrowTurn: where others have no sandbox, a turn that asks for one and for never has
// no tool of an MCP server called, and what a server wants to be sure of is declined. codex goes by
// what the thread was loaded with, for about half of the threads: hence the many conversations.
func TestToolOfANarrowTurn(t *testing.T) {
	t.Parallel()
	for _, policy := range []agent.ApprovalPolicy{agent.Never, agent.OnRequest} {
		for _, sandbox := range []agent.Sandbox{agent.ReadOnly, agent.WorkspaceWrite} {
			t.Run(fmt.Sprintf("%s in %s", policy, sandbox), func(t *testing.T) {
				t.Parallel()
				x := tooled{t: t, own: policy, narrow: agent.Options{Sandbox: sandbox, ApprovalPolicy: agent.Never}}
				x.e = onCodex(t, modeltest.Start(t, fakemodel.Keywords), func(c *config) {
					withMCP()(c)
					c.Thread.ApprovalPolicy, c.Thread.Sandbox = policy, agent.FullAccess
					c.Journal = &notebook{}
				})
				for i := range 2 {
					x.in = fmt.Sprint("context-", i)
					x.called()
					if err := x.e.Forget(t.Context(), x.in); err != nil {
						t.Fatal(err)
					}
				}
				for i := range 2 {
					x.in = fmt.Sprint("context-", i)
					x.refused()
				}
				for i := range 2 {
					x.in = fmt.Sprint("new-", i)
					x.refused()
				}
				x.called()
				x.refused()
				killCodex(t, x.e)
				x.refused()
			})
		}
	}
}

// A tooled is an executor whose turns are offered the tools of an MCP server.
type tooled struct {
	t      *testing.T
	e      *rig
	in     string // the context
	own    agent.ApprovalPolicy
	narrow agent.Options
	n      int
}

func (x *tooled) submit(text string, o agent.Options) *witness {
	x.t.Helper()
	x.n++
	w := &witness{ended: make(chan agent.Ended, 1)}
	job := executor.Job{ID: fmt.Sprint("j", x.n), Context: x.in, Input: []agent.Input{agent.Text(text)}, Options: o}
	if _, err := x.e.Submit(job, w.observe); err != nil {
		x.t.Fatal(err)
	}
	return w
}

// refused has turns in the sandbox call the tools.
func (x *tooled) refused() {
	x.t.Helper()
	if end := x.submit(callPlain, x.narrow).wait(x.t); end.Outcome != agent.Completed || strings.Contains(said(end), "plain answer") {
		x.t.Errorf("%s: the tool is called: %q, %s", x.in, said(end), end.Outcome)
	}
	if end := x.submit(callSure, x.narrow).wait(x.t); !strings.Contains(said(end), "the answer: decline") {
		x.t.Errorf("%s: the server is told %q", x.in, said(end))
	}
}

// called has a turn of the executor's own call the tool, after a question if it may be put.
func (x *tooled) called() {
	x.t.Helper()
	w := x.submit(callPlain, agent.Options{})
	if x.own != agent.Never {
		mustReply(x.t, x.e, fmt.Sprint("j", x.n), w.asked(x.t, 1), "yes")
	}
	if end := w.wait(x.t); !strings.Contains(said(end), "plain answer") {
		x.t.Errorf("%s: the tool is not called: %q", x.in, said(end))
	}
}

// TestToolOfANarrowFirstTurn of threads that were loaded for others, which never began.
func TestToolOfANarrowFirstTurn(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	book := &notebook{}
	x := tooled{t: t, own: agent.Never, narrow: agent.Options{Sandbox: agent.ReadOnly}}
	x.e = onCodex(t, modeltest.Start(t, fakemodel.Keywords), func(c *config) {
		withMCP()(c)
		c.Thread.ApprovalPolicy, c.Thread.Sandbox, c.Journal = agent.Never, agent.FullAccess, book
	})
	full := func(refuse int) {
		book.mu.Lock()
		defer book.mu.Unlock()
		book.refuse = refuse
	}
	for i := range 2 {
		x.in = fmt.Sprint("context-", i)
		full(1 << 30)
		never := x.submit("say hello", agent.Options{})
		eventually(t, "the journal to be full", func() bool { return len(seen[agent.Notice](never)) > 0 })
		cancel(t, x.e, fmt.Sprint("j", x.n))
		wantEnd(t, never.wait(t), agent.Canceled, "")
		full(0)
		x.refused()
	}
	if restarts := x.e.Health().Child.Restarts; restarts != 0 {
		t.Errorf("codex was restarted %d times", restarts)
	}
}

// TestLoadingThatWasCanceled leaves nothing to the next message of what its own might: codex goes
// on with it, and keeps it.
func TestLoadingThatWasCanceled(t *testing.T) {
	t.Parallel()
	narrow := agent.Options{Sandbox: agent.ReadOnly, ApprovalPolicy: agent.Never}
	for name, after := range map[string]struct{ first, canceled, then agent.Options }{
		"more": {agent.Options{}, narrow, agent.Options{}}, "less": {narrow, agent.Options{}, narrow},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := codextest.Dir(t, "outside")
			begun, may, file := filepath.Join(dir, "begun"), filepath.Join(dir, "may"), filepath.Join(dir, "file")
			x := tooled{t: t, in: "one"}
			x.e = onCodex(t, modeltest.Start(t, fakemodel.Keywords), func(c *config) {
				slow(begun, may)(c)
				c.Thread.ApprovalPolicy, c.Thread.Sandbox, c.Journal = agent.Never, agent.FullAccess, &notebook{}
			})
			put(t, may)
			wantEnd(t, x.submit("say hello", after.first).wait(t), agent.Completed, "")
			remove(t, begun, may)
			w := x.submit("say hello", after.canceled)
			eventually(t, "the server to be started", func() bool { return exists(begun) })
			cancel(t, x.e, "j2")
			wantEnd(t, w.wait(t), agent.Canceled, "")
			w = x.submit("run touch "+file, after.then)
			put(t, may)
			wantEnd(t, w.wait(t), agent.Completed, "")
			if wrote := exists(file); wrote != (name == "more") {
				t.Errorf("it has written outside of a sandbox: %v", wrote)
			}
			if end := x.submit(callPlain, after.then).wait(t); strings.Contains(said(end), "plain answer") != (name == "more") {
				t.Errorf("of the tool the model is told %q", said(end))
			}
		})
	}
}

// TestThreadThatIsFollowed already, loaded with something else, is loaded with what the turn may do.
func TestThreadThatIsFollowed(t *testing.T) {
	t.Parallel()
	x := tooled{t: t, in: "one"}
	x.e = onCodex(t, modeltest.Start(t, fakemodel.Keywords), func(c *config) {
		c.Thread.ApprovalPolicy, c.Thread.Sandbox, c.Journal = agent.Never, agent.FullAccess, &notebook{}
	})
	w := x.submit("say hello", agent.Options{})
	wantEnd(t, w.wait(t), agent.Completed, "")
	if err := x.e.Forget(t.Context(), x.in); err != nil {
		t.Fatal(err)
	}
	thread := seen[agent.Started](w)[0].ThreadID
	if err := x.e.Follow(t.Context(), thread, agent.ReadOnly); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(codextest.Dir(t, "outside"), "file")
	w = x.submit("run touch "+file, agent.Options{})
	wantEnd(t, w.wait(t), agent.Completed, "")
	if got := seen[agent.Started](w)[0].ThreadID; got != thread || !exists(file) {
		t.Errorf("in thread %s, want %s; it has written: %v", got, thread, exists(file))
	}
}

// TestServerThatDidNotStart, required as it is, costs the message that needs it and not the
// conversation.
func TestServerThatDidNotStart(t *testing.T) {
	t.Parallel()
	x := tooled{t: t, in: "one"}
	fails := filepath.Join(codextest.Dir(t, "outside"), "fails")
	x.e = onCodex(t, modeltest.Start(t, fakemodel.Keywords), func(c *config) {
		exe, _ := os.Executable()
		once := fmt.Sprintf(`if rm %s; then exit 1; fi; exec %s`, fails, exe)
		asks("-c", fmt.Sprintf(`mcp_servers.asker={command="/bin/sh",args=["-c",%q],env={%s="1"},required=true}`, once, mcpVar))(c)
		c.Thread.ApprovalPolicy, c.Thread.Sandbox = agent.Never, agent.FullAccess
	})
	wantEnd(t, x.submit("remember red-2", agent.Options{}).wait(t), agent.Completed, "")
	put(t, fails)
	narrow := agent.Options{Sandbox: agent.ReadOnly}
	if end := x.submit("recall", narrow).wait(t); end.Failure == nil || !strings.Contains(end.Failure.Message, "asker") {
		t.Errorf("without the server: %+v", end)
	}
	if end := x.submit("recall", narrow).wait(t); !strings.Contains(said(end), "red-2") {
		t.Errorf("it does not remember: %q", said(end))
	}
}

// slow is withMCP where each loading of a thread waits for a file, having made another.
func slow(begun, may string) func(*config) {
	exe, _ := os.Executable()
	wait := fmt.Sprintf(`touch %s; until [ -e %s ]; do sleep 0.02; done; exec %s`, begun, may, exe)
	return asks("-c", fmt.Sprintf(`mcp_servers.asker={command="/bin/sh",args=["-c",%q],env={%s="1"},required=true}`, wait, mcpVar))
}

func put(t *testing.T, file string) {
	t.Helper()
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, files ...string) {
	t.Helper()
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// TestResourceAsksNobody: docs/tools.md says so to operators. Where this fails codex asks by now.
func TestResourceAsksNobody(t *testing.T) {
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), withMCP("-c", "mcp_servers.asker.enabled_tools=[]"))
	narrow := agent.Options{Sandbox: agent.ReadOnly, ApprovalPolicy: agent.Never}
	end := submitWith(t, e, "j1", `call read_mcp_resource {"server":"asker","uri":"note://one"}`, narrow).wait(t)
	if !strings.Contains(said(end), "what the note says") {
		t.Errorf("the model is told %q", said(end))
	}
}
