package appserver_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// TestCodexRollout reads what the pinned codex writes. A kind of line that is new
// with another version counts as a tool until it is known: then this test fails.
func TestCodexRollout(t *testing.T) {
	model := modeltest.Start(t, fakemodel.Keywords)
	cfg := appserver.Config{
		Bin:  codextest.Bin(t),
		Args: append(model.Overrides(), "-c", "tools.update_plan.enabled=true"),
		Env:  append(os.Environ(), "CODEX_HOME="+codextest.Home(t), model.Env()),
		Dir:  codextest.Dir(t, "work"),
	}
	c := startWith(t, cfg)
	session, err := c.ThreadStart(patient(t), appserver.ThreadStartParams{ApprovalPolicy: appserver.Never, Sandbox: appserver.DangerFullAccess})
	if err != nil {
		t.Fatal(err)
	}
	id, path := session.Thread.ID, session.Thread.Path
	events := c.Subscribe(id)
	turns := []struct {
		text string
		want appserver.Trace
	}{
		{"say hello", appserver.Trace{Found: true}},
		{"think about it", appserver.Trace{Found: true}},
		{"commentary on it", appserver.Trace{Found: true}},
		{"plan", appserver.Trace{Found: true, Called: true}},
		{"fail 400", appserver.Trace{Found: true}},
		{"run true", appserver.Trace{Found: true, Tool: true, Called: true}},
		{"background sleep 66", appserver.Trace{Found: true, Tool: true, Called: true}},
		{"patch new.txt", appserver.Trace{Found: true, Tool: true, Called: true}},
		{"say again", appserver.Trace{Found: true}},
	}
	for _, turn := range turns {
		params := appserver.TurnStartParams{ThreadID: id, Input: []appserver.UserInput{appserver.Text(turn.text)}, ClientUserMessageID: turn.text}
		if _, err := c.TurnStart(patient(t), params); err != nil {
			t.Fatal(err)
		}
		collect(t, events, appserver.NoteTurnCompleted)
	}
	events.Close()
	c.Kill()
	<-c.Done()
	for _, turn := range turns {
		if got, err := appserver.ReadTrace(path, turn.text); err != nil || got != turn.want {
			t.Errorf("%s: trace = %+v, %v, want %+v", turn.text, got, err, turn.want)
		}
	}
	if got, err := appserver.ReadTrace(path, "never sent"); err != nil || got.Found {
		t.Errorf("a message that was never sent: %+v, %v", got, err)
	}

	t.Run("torn", func(t *testing.T) {
		text := readFile(t, path)
		writeFile(t, path, text[:len(text)-20]) // the end of the last turn
		c := startWith(t, cfg)
		if _, err := c.ThreadResume(patient(t), appserver.ThreadResumeParams{ThreadID: id, ExcludeTurns: true}); err != nil {
			t.Fatal(err)
		}
		if got, err := appserver.ReadTrace(path, "say again"); err != nil || !got.Found || got.Tool {
			t.Errorf("trace = %+v, %v", got, err)
		}
	})
	t.Run("empty", func(t *testing.T) {
		writeFile(t, path, nil)
		_, err := startWith(t, cfg).ThreadResume(patient(t), appserver.ThreadResumeParams{ThreadID: id, ExcludeTurns: true})
		if !appserver.IsNoRollout(err) {
			t.Errorf("resume = %v, want no rollout", err)
		}
	})
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
