package fakecodex_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakecodex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
)

func TestMain(m *testing.M) {
	fakecodex.Child()
	leaktest.Main(m)
}

type session struct {
	*testing.T
	*appserver.Client
	ctx    context.Context
	id     string
	events *appserver.Subscription
}

// start runs script and resumes thread, or starts one if it is empty.
func start(t *testing.T, script, thread string) *session {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	var cfg appserver.Config
	cfg.Bin, cfg.Env = fakecodex.Command(script)
	c, err := appserver.Start(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Kill(); <-c.Done() })
	s := &session{T: t, Client: c, ctx: ctx, id: thread}
	if thread == "" {
		opened, startErr := c.ThreadStart(ctx, appserver.ThreadStartParams{})
		s.id, err = opened.Thread.ID, startErr
	} else {
		_, err = c.ThreadResume(ctx, appserver.ThreadResumeParams{ThreadID: thread, ExcludeTurns: true})
	}
	if err != nil {
		t.Fatal(err)
	}
	s.events = c.Subscribe(s.id)
	t.Cleanup(s.events.Close)
	return s
}

func (s *session) turn(text string) appserver.Turn {
	s.Helper()
	turn, err := s.TurnStart(s.ctx, appserver.TurnStartParams{ThreadID: s.id, Input: []appserver.UserInput{appserver.Text(text)}, ClientUserMessageID: text})
	if err != nil {
		s.Fatal(err)
	}
	return turn
}

// until reads until a notification of the method, or until the child's end if empty.
func (s *session) until(method string) {
	s.Helper()
	for {
		n, err := s.events.Next(s.ctx)
		if err != nil && method != "" {
			s.Fatal(err)
		}
		if err != nil || n.Method == method {
			return
		}
	}
}

func (s *session) history() []appserver.Turn {
	s.Helper()
	turns, err := s.TurnsList(s.ctx, s.id, 10, true)
	if err != nil {
		s.Fatal(err)
	}
	return turns
}

func TestHistoryOutlivesTheRun(t *testing.T) {
	tests := map[string]struct {
		action string
		status appserver.TurnStatus
		items  int
	}{
		"die":      {"!die 3", appserver.TurnInterrupted, 1},
		"die-tool": {"!die-tool 3", appserver.TurnInterrupted, 1},
		"die-done": {"!die-done 3", appserver.TurnCompleted, 2},
		"mute":     {"!mute", appserver.TurnInterrupted, 1},
		"quiet":    {"!die-quiet-tool 3", appserver.TurnInterrupted, 1},
		"message":  {"!die-message 3", appserver.TurnInterrupted, 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			script := "state " + t.TempDir()
			first := start(t, script, "")
			first.turn("one")
			first.until(appserver.NoteTurnCompleted)
			first.turn(test.action)
			first.until("")
			second := start(t, script, first.id)
			turns := second.history()
			if len(turns) != 2 || turns[0].Status != test.status || len(turns[0].Items) != test.items {
				t.Fatalf("history = %+v", turns)
			}
			if got := turns[0].Items[0].ClientID; got != test.action {
				t.Errorf("clientId = %q", got)
			}
			second.turn("three")
			second.until(appserver.NoteTurnCompleted)
		})
	}
}

func TestEarlyDeathLeavesNoTurn(t *testing.T) {
	script := "state " + t.TempDir() + "; once; turn die-early 3"
	first := start(t, script, "")
	first.turn("one")
	first.until("")
	second := start(t, script, "") // the first thread is not on disk
	if _, err := second.ThreadResume(second.ctx, appserver.ThreadResumeParams{ThreadID: first.id}); !appserver.IsNoRollout(err) {
		t.Errorf("ThreadResume = %v", err)
	}
	second.turn("two") // and this run does not die
	second.until(appserver.NoteTurnCompleted)
}

func TestBusyThreadFoldsInput(t *testing.T) {
	s := start(t, "", "")
	if first, second := s.turn("!hang"), s.turn("more"); first.ID != second.ID {
		t.Errorf("turns %q and %q, want one", first.ID, second.ID)
	}
}

func TestTerminalSurvivesItsTurn(t *testing.T) {
	s := start(t, "", "")
	turn := s.turn("!hang-terminal")
	s.until(appserver.NoteItemStarted)
	s.until(appserver.NoteItemStarted)
	if err := s.TurnInterrupt(s.ctx, s.id, turn.ID); err != nil {
		t.Fatal(err)
	}
	s.until(appserver.NoteTurnCompleted)
	terminals, err := s.BackgroundTerminals(s.ctx, s.id)
	if err != nil || len(terminals) != 1 {
		t.Fatalf("BackgroundTerminals = %v, %v", terminals, err)
	}
	for _, want := range []bool{true, false} {
		if was, err := s.TerminateTerminal(s.ctx, s.id, terminals[0].ProcessID); err != nil || was != want {
			t.Errorf("TerminateTerminal = %v, %v", was, err)
		}
	}
}

func TestLostCompletionStandsInTheHistory(t *testing.T) {
	s := start(t, "turn lose-completed", "")
	s.turn("one")
	s.until(appserver.NoteTokenUsage)
	for s.history()[0].Status != appserver.TurnCompleted {
		continue
	}
}

func TestStubbornTurnGoesOn(t *testing.T) {
	s := start(t, "", "")
	turn := s.turn("!stubborn")
	if err := s.TurnInterrupt(s.ctx, s.id, turn.ID); err != nil {
		t.Fatal(err)
	}
	if got := s.history()[0].Status; got != appserver.TurnInProgress {
		t.Errorf("status = %q", got)
	}
}

func TestUnfollowedThreadIsSilent(t *testing.T) {
	s := start(t, "", "")
	if err := s.ThreadUnsubscribe(s.ctx, s.id); err != nil {
		t.Fatal(err)
	}
	s.turn("one")
	if n, err := s.events.Next(s.ctx); err != nil || n.Method != "thread/started" {
		t.Fatal(n.Method, err)
	}
	ctx, cancel := context.WithTimeout(s.ctx, 100*time.Millisecond)
	defer cancel()
	if n, err := s.events.Next(ctx); err == nil {
		t.Errorf("told %s", n.Method)
	}
}

func TestRaw(t *testing.T) {
	s := start(t, "turn echo", "")
	file := filepath.Join(t.TempDir(), "raw")
	if err := os.WriteFile(file, []byte("no message\n{\"method\":\"x/y\",\"params\":{\"threadId\":\"THREAD\",\"turnId\":\"TURN\",\"other\":\"OTHERTURN\",\"call\":\"CALL\"}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	turn := s.turn("!raw " + file)
	for {
		n, err := s.events.Next(s.ctx)
		if err != nil {
			t.Fatal(err)
		}
		if n.Method != "x/y" {
			continue
		}
		var got struct{ TurnID, Other, Call string }
		if err := json.Unmarshal(n.Params, &got); err != nil || got.TurnID != turn.ID || got.Other != "nothing" || got.Call == "CALL" {
			t.Errorf("%s, %v", n.Params, err)
		}
		break
	}
	s.until("turn/completed")
}

func TestUntil(t *testing.T) {
	s := start(t, "turn echo", "")
	file := filepath.Join(t.TempDir(), "over")
	s.turn("!until " + file)
	s.until("turn/started")
	if err := os.WriteFile(file+".new", []byte("that is all"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
	s.until("turn/completed")
	items := s.history()[0].Items
	if last := items[len(items)-1]; last.Text != "that is all" {
		t.Errorf("it said %q", last.Text)
	}
}
