package rollout_test

import (
	"bytes"
	"context"
	"os"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/rollout"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// TestWhatCodexWrites reads what the pinned codex writes. A kind of line that is new
// with another version counts as a tool until it is known: then this test fails.
func TestWhatCodexWrites(t *testing.T) {
	model := modeltest.Start(t, fakemodel.Keywords)
	cfg := appserver.Config{
		Bin:  codextest.Bin(t),
		Args: append(model.Overrides(), "-c", "tools.update_plan.enabled=true"),
		Env:  append(os.Environ(), "CODEX_HOME="+codextest.Home(t), model.Env()),
		Dir:  codextest.Dir(t, "work"),
	}
	c := start(t, cfg)
	session, err := c.ThreadStart(t.Context(), appserver.ThreadStartParams{ApprovalPolicy: appserver.Never, Sandbox: appserver.DangerFullAccess})
	if err != nil {
		t.Fatal(err)
	}
	id, path := session.Thread.ID, session.Thread.Path
	events := c.Subscribe(id)
	turns := []struct {
		text string
		want rollout.Trace
	}{
		{"say hello", rollout.Trace{Found: true}},
		{"think about it", rollout.Trace{Found: true}},
		{"commentary on it", rollout.Trace{Found: true}},
		{"plan", rollout.Trace{Found: true, Called: true}},
		{"fail 400", rollout.Trace{Found: true}},
		{"run true", rollout.Trace{Found: true, Tool: true, Called: true}},
		{"background sleep 66", rollout.Trace{Found: true, Tool: true, Called: true}},
		{"patch new.txt", rollout.Trace{Found: true, Tool: true, Called: true}},
		{"say again", rollout.Trace{Found: true}},
	}
	for _, turn := range turns {
		params := appserver.TurnStartParams{ThreadID: id, Input: []appserver.UserInput{appserver.Text(turn.text)}, ClientUserMessageID: turn.text}
		if _, err := c.TurnStart(t.Context(), params); err != nil {
			t.Fatal(err)
		}
		completed(t, events)
	}
	events.Close()
	c.Kill()
	<-c.Done()
	for _, turn := range turns {
		turn.want.Ended, turn.want.Unread = true, turn.text == "fail 400" // which has nothing of the model's
		if got, err := rollout.ReadTrace(path, turn.text); err != nil || got != turn.want {
			t.Errorf("%s: trace = %+v, %v, want %+v", turn.text, got, err, turn.want)
		}
	}
	if got, err := rollout.ReadTrace(path, "never sent"); err != nil || got.Found {
		t.Errorf("a message that was never sent: %+v, %v", got, err)
	}

	t.Run("torn", func(t *testing.T) {
		text := readFile(t, path)
		writeFile(t, path, text[:len(text)-20]) // the end of the last turn
		c := start(t, cfg)
		if _, err := c.ThreadResume(t.Context(), appserver.ThreadResumeParams{ThreadID: id, ExcludeTurns: true}); err != nil {
			t.Fatal(err)
		}
		if got, err := rollout.ReadTrace(path, "say again"); err != nil || !got.Found || got.Tool {
			t.Errorf("trace = %+v, %v", got, err)
		}
	})
	t.Run("empty", func(t *testing.T) {
		writeFile(t, path, nil)
		_, err := start(t, cfg).ThreadResume(t.Context(), appserver.ThreadResumeParams{ThreadID: id, ExcludeTurns: true})
		if !appserver.IsNoRollout(err) {
			t.Errorf("resume = %v, want no rollout", err)
		}
	})
}

// start runs codex until the test ends.
func start(t *testing.T, cfg appserver.Config) *appserver.Client {
	t.Helper()
	c, err := appserver.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Kill()
		<-c.Done()
	})
	return c
}

// completed reads until a turn has ended.
func completed(t *testing.T, events *appserver.Subscription) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		note, err := events.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if note.Method == appserver.NoteTurnCompleted {
			return
		}
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(text)
}

func writeFile(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
