package executor_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
)

const (
	callPlain = "call mcp__asker::plain {}"
	callSure  = "call mcp__asker::sure {}"
)

// TestToolOfANarrowTurn: what nobody may be asked about is not done in a turn that asks for a
// sandbox, where the others have none: no tool of an MCP server is called, and what a server wants
// to be sure of is declined. codex goes by what the thread was loaded with, every other time or so:
// hence the many conversations.
func TestToolOfANarrowTurn(t *testing.T) {
	t.Parallel()
	for _, policy := range []appserver.ApprovalPolicy{appserver.Never, appserver.OnRequest} {
		for _, sandbox := range []appserver.SandboxMode{appserver.ReadOnly, appserver.WorkspaceWrite} {
			t.Run(fmt.Sprintf("%s in %s", policy, sandbox), func(t *testing.T) {
				t.Parallel()
				x := tooled{t: t, own: policy, narrow: executor.Options{Sandbox: sandbox, ApprovalPolicy: appserver.Never}}
				x.e = onCodex(t, modeltest.Start(t, fakemodel.Keywords), func(c *executor.Config) {
					withMCP()(c)
					c.Thread.ApprovalPolicy, c.Thread.Sandbox = policy, appserver.DangerFullAccess
					c.MaxThreads, c.Book = 1, &notebook{} // each context lets go of the one before
				})
				for i := range 4 {
					x.in = fmt.Sprint("context-", i)
					x.called()
				}
				for i := range 4 {
					x.in = fmt.Sprint("context-", i)
					x.refused()
				}
				for i := range 4 {
					x.in = fmt.Sprint("new-", i)
					x.refused()
				}
				x.called()
				x.refused()
				_ = syscall.Kill(x.e.Health().Child.Pid, syscall.SIGKILL)
				x.refused()
			})
		}
	}
}

// A tooled is an executor whose turns are offered the tools of an MCP server.
type tooled struct {
	t      *testing.T
	e      *executor.Executor
	in     string // the context
	own    appserver.ApprovalPolicy
	narrow executor.Options
	n      int
}

func (x *tooled) submit(text string, o executor.Options) *witness {
	x.t.Helper()
	x.n++
	w := &witness{ended: make(chan executor.Ended, 1)}
	job := executor.Job{ID: fmt.Sprint("j", x.n), Context: x.in, Input: []appserver.UserInput{appserver.Text(text)}, Options: o}
	if _, err := x.e.Submit(job, w.observe); err != nil {
		x.t.Fatal(err)
	}
	return w
}

// refused has turns in the sandbox call the tools.
func (x *tooled) refused() {
	x.t.Helper()
	if end := x.submit(callPlain, x.narrow).wait(x.t); end.Outcome != executor.Completed || strings.Contains(said(end), "plain answer") {
		x.t.Errorf("%s: the tool is called: %q, %s", x.in, said(end), end.Outcome)
	}
	if end := x.submit(callSure, x.narrow).wait(x.t); !strings.Contains(said(end), "the answer: decline") {
		x.t.Errorf("%s: the server is told %q", x.in, said(end))
	}
}

// called has a turn of the executor's own call the tool, after a question if it may be put.
func (x *tooled) called() {
	x.t.Helper()
	w := x.submit(callPlain, executor.Options{})
	if x.own != appserver.Never {
		mustReply(x.t, x.e, fmt.Sprint("j", x.n), w.asked(x.t, 1), "yes")
	}
	if end := w.wait(x.t); !strings.Contains(said(end), "plain answer") {
		x.t.Errorf("%s: the tool is not called: %q", x.in, said(end))
	}
}

// TestToolOfANarrowFirstTurn of a thread that was loaded for another, which never began.
func TestToolOfANarrowFirstTurn(t *testing.T) {
	t.Parallel()
	book := &notebook{refuse: 1 << 30}
	x := tooled{t: t, own: appserver.Never, narrow: executor.Options{Sandbox: appserver.ReadOnly}}
	x.e = onCodex(t, modeltest.Start(t, fakemodel.Keywords), func(c *executor.Config) {
		withMCP()(c)
		c.Thread.ApprovalPolicy, c.Thread.Sandbox, c.Book = appserver.Never, appserver.DangerFullAccess, book
	})
	never := x.submit("say hello", executor.Options{})
	eventually(t, "the book to be full", func() bool { return len(seen[executor.Notice](never)) > 0 })
	cancel(t, x.e, "j1")
	wantEnd(t, never.wait(t), executor.Canceled, "")
	book.mu.Lock()
	book.refuse = 0
	book.mu.Unlock()
	x.refused()
	if restarts := x.e.Health().Child.Restarts; restarts != 0 {
		t.Errorf("codex was restarted %d times", restarts)
	}
}

// TestResourceAsksNobody: docs/tools.md says so to operators. Where this fails codex asks by now.
func TestResourceAsksNobody(t *testing.T) {
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), withMCP("-c", "mcp_servers.asker.enabled_tools=[]"))
	narrow := executor.Options{Sandbox: appserver.ReadOnly, ApprovalPolicy: appserver.Never}
	end := submitWith(t, e, "j1", `call read_mcp_resource {"server":"asker","uri":"note://one"}`, narrow).wait(t)
	if !strings.Contains(said(end), "what the note says") {
		t.Errorf("the model is told %q", said(end))
	}
}
