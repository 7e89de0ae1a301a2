package appserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakecodex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
)

func TestMain(m *testing.M) {
	fakecodex.Child()
	if os.Getenv(parentEnv) != "" {
		beParent()
	}
	leaktest.Main(m)
}

// patience is how long a test waits for what should come at once.
const patience = time.Minute

// ctx returns a context that ends a stuck test with a trace.
func patient(tb testing.TB) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	tb.Cleanup(cancel)
	return ctx
}

// start runs the fake; the test ends with no process of it left.
func start(tb testing.TB, script string, change ...func(*appserver.Config)) *appserver.Client {
	tb.Helper()
	var cfg appserver.Config
	cfg.Bin, cfg.Env = fakecodex.Command(script)
	for _, c := range change {
		c(&cfg)
	}
	return startWith(tb, cfg)
}

func startWith(tb testing.TB, cfg appserver.Config) *appserver.Client {
	tb.Helper()
	c, err := appserver.Start(patient(tb), cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		c.Kill()
		<-c.Done()
		groupIsGone(tb, c.Pid())
	})
	return c
}

// groupIsGone fails the test if a process of the group goes on. Killed
// grandchildren die in their own time and are reaped by init.
func groupIsGone(tb testing.TB, group int) {
	tb.Helper()
	for ctx := patient(tb); !errors.Is(syscall.Kill(-group, 0), syscall.ESRCH); {
		if ctx.Err() != nil {
			tb.Errorf("after Done, the group %d is still there", group)
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// thread starts a thread and follows it.
func thread(tb testing.TB, c *appserver.Client) (string, *appserver.Subscription) {
	tb.Helper()
	session, err := c.ThreadStart(patient(tb), appserver.ThreadStartParams{})
	if err != nil {
		tb.Fatal(err)
	}
	s := c.Subscribe(session.Thread.ID)
	tb.Cleanup(s.Close)
	return session.Thread.ID, s
}

func turn(tb testing.TB, c *appserver.Client, threadID, text string) appserver.Turn {
	tb.Helper()
	started, err := c.TurnStart(patient(tb), appserver.TurnStartParams{ThreadID: threadID, Input: []appserver.UserInput{appserver.Text(text)}})
	if err != nil {
		tb.Fatal(err)
	}
	return started
}

// collect reads notifications until one of the method until, which is the last.
func collect(tb testing.TB, s *appserver.Subscription, until string) []appserver.Notification {
	tb.Helper()
	var all []appserver.Notification
	for {
		n, err := s.Next(patient(tb))
		if err != nil {
			tb.Fatalf("after %d notifications: %v", len(all), err)
		}
		if all = append(all, n); n.Method == until {
			return all
		}
	}
}

// drain reads notifications until Next fails.
func drain(tb testing.TB, s *appserver.Subscription) ([]appserver.Notification, error) {
	tb.Helper()
	var all []appserver.Notification
	for {
		n, err := s.Next(patient(tb))
		if err != nil {
			return all, err
		}
		all = append(all, n)
	}
}

func count(all []appserver.Notification, method string) (n int) {
	for _, note := range all {
		if note.Method == method {
			n++
		}
	}
	return n
}

func decode[T any](tb testing.TB, n appserver.Notification) (v T) {
	tb.Helper()
	if err := json.Unmarshal(n.Params, &v); err != nil {
		tb.Fatalf("%s: %v", n.Method, err)
	}
	return v
}

// text joins the deltas.
func text(tb testing.TB, all []appserver.Notification) (s string) {
	tb.Helper()
	for _, n := range all {
		if n.Method == appserver.NoteAgentMessageDelta {
			s += decode[appserver.DeltaNote](tb, n).Delta
		}
	}
	return s
}

// exit returns the ExitError in err and checks the status.
func exit(tb testing.TB, err error, status string) *appserver.ExitError {
	tb.Helper()
	ended, ok := errors.AsType[*appserver.ExitError](err)
	if !ok {
		tb.Fatalf("error = %v, want an ExitError", err)
	}
	if got := fmt.Sprint(ended.State); got != status {
		tb.Errorf("state = %q, want %q (%v)", got, status, err)
	}
	return ended
}
