package appserver_test

import (
	"os"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// codex runs the pinned codex.
func codex(tb testing.TB) *appserver.Client {
	tb.Helper()
	return startWith(tb, appserver.Config{
		Bin: codextest.Bin(tb),
		Env: append(os.Environ(), "CODEX_HOME="+codextest.Home(tb)),
		Dir: codextest.Dir(tb, "work"),
	})
}

func TestCodexHandshake(t *testing.T) {
	c := codex(t)
	info, want := c.Info(), codextest.Version(t)
	if !strings.HasPrefix(info.UserAgent, "runtime/"+want+" ") || info.Version() != want {
		t.Errorf("user agent = %q, of version %q, want %q", info.UserAgent, info.Version(), want)
	}
	status, err := c.AccountRead(patient(t), false)
	if err != nil || status.Account != nil || !status.RequiresOpenaiAuth {
		t.Errorf("AccountRead = %+v, %v", status, err)
	}
	if stats := c.Stats(); stats != (appserver.Stats{}) {
		t.Errorf("Stats = %+v", stats)
	}
	if err := c.Close(); err != nil {
		t.Errorf("Close = %v", err)
	}
	exit(t, c.Err(), "exit status 0")
}

func TestCodexThread(t *testing.T) {
	c := codex(t)
	ctx := patient(t)
	session, err := c.ThreadStart(ctx, appserver.ThreadStartParams{Sandbox: appserver.ReadOnly, ApprovalPolicy: appserver.Never, ApprovalsReviewer: "user"})
	if err != nil {
		t.Fatal(err)
	}
	id := session.Thread.ID
	if session.Model == "" || session.Cwd == "" || session.Thread.Status.Type != "idle" {
		t.Errorf("session = %+v", session)
	}
	events := c.Subscribe(id) // later than thread/started may have come
	defer events.Close()
	collect(t, events, "thread/started")
	if turns, err := c.TurnsList(ctx, id, 5, true); err != nil || len(turns) != 0 {
		t.Errorf("TurnsList of a new thread = %v, %v", turns, err)
	}
	if terminals, err := c.BackgroundTerminals(ctx, id); err != nil || len(terminals) != 0 {
		t.Errorf("BackgroundTerminals = %v, %v", terminals, err)
	}
	if was, err := c.TerminateTerminal(ctx, id, "77"); err != nil || was {
		t.Errorf("TerminateTerminal = %v, %v", was, err)
	}
	if err := c.ThreadUnsubscribe(ctx, id); err != nil {
		t.Error(err)
	}
}

// Each refusal that the runtime tells from others, in codex's own words.
func TestCodexRefusals(t *testing.T) {
	const nobody = "0199a213-81c0-7800-8aa1-bbab2a035a53"
	c := codex(t)
	ctx := patient(t)
	session, err := c.ThreadStart(ctx, appserver.ThreadStartParams{})
	if err != nil {
		t.Fatal(err)
	}
	id := session.Thread.ID
	input := []appserver.UserInput{appserver.Text("hi")}
	tests := map[string]struct {
		call func() error
		is   func(error) bool
	}{
		"start-unknown": {func() error {
			_, err := c.TurnStart(ctx, appserver.TurnStartParams{ThreadID: nobody, Input: input})
			return err
		}, appserver.IsThreadGone},
		"list-unknown": {func() error { _, err := c.TurnsList(ctx, nobody, 1, false); return err }, appserver.IsThreadGone},
		"resume-unknown": {func() error {
			_, err := c.ThreadResume(ctx, appserver.ThreadResumeParams{ThreadID: nobody})
			return err
		}, appserver.IsNoRollout},
		"resume-new":     {func() error { _, err := c.ThreadResume(ctx, appserver.ThreadResumeParams{ThreadID: id}); return err }, appserver.IsNoRollout},
		"interrupt-idle": {func() error { return c.TurnInterrupt(ctx, id, "x") }, appserver.IsNoActiveTurn},
		"steer-idle": {func() error {
			return c.TurnSteer(ctx, appserver.TurnSteerParams{ThreadID: id, ExpectedTurnID: "x", Input: input})
		}, appserver.IsNoActiveTurn},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if err := test.call(); !test.is(err) {
				t.Errorf("refusal = %v", err)
			}
		})
	}
}
