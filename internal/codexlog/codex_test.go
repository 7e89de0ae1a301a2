package codexlog_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codexlog"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// TestTrimOfCodex: the log of the real codex has the name and the columns that are
// counted on, can shrink, and codex goes on with it.
func TestTrimOfCodex(t *testing.T) {
	t.Parallel()
	model, home := modeltest.Start(t, fakemodel.Keywords), codextest.Home(t)
	e := executor.New(executor.Config{}, codex.New(codex.Config{Child: codex.Process{
		Bin: codextest.Bin(t), Args: model.Overrides(), Dir: codextest.Dir(t, "work"),
		Env:        []string{"PATH=" + os.Getenv("PATH"), "HOME=" + codextest.Dir(t, "user"), "CODEX_HOME=" + home, model.Env()},
		ClientName: "codexlog-test", ClientVersion: "1",
	}}))
	t.Cleanup(func() { _ = e.Close(context.WithoutCancel(t.Context())) })
	thread := turn(t, e, "first")
	db, err := sql.Open("sqlite", "file:"+filepath.Join(home, "logs_2.sqlite")+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	logged(t, db, thread)
	deleted, err := trimmer(t, home, codexlog.Bounds{}, thread).Trim(t.Context())
	if err != nil || deleted == 0 {
		t.Fatalf("Trim = %d, %v", deleted, err)
	}
	var shrinks int
	if err := db.QueryRowContext(t.Context(), "PRAGMA auto_vacuum").Scan(&shrinks); err != nil || shrinks != 2 {
		t.Errorf("auto_vacuum = %d, %v: the file does not become smaller", shrinks, err)
	}
	logged(t, db, turn(t, e, "second"))
}

// turn has a conversation of its own, and returns its thread.
func turn(t *testing.T, e *executor.Executor, id string) (thread string) {
	t.Helper()
	ended := make(chan agent.Ended, 1)
	started := make(chan string, 1)
	_, err := e.Submit(executor.Job{ID: id, Context: id, Input: []agent.Input{agent.Text("say hello")}}, func(event agent.Event) {
		switch event := event.(type) {
		case agent.Started:
			started <- event.ThreadID
		case agent.Ended:
			ended <- event
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if end := <-ended; end.Outcome != agent.Completed {
		t.Fatalf("the turn ended %s: %v", end.Outcome, end.Failure)
	}
	return <-started
}

// logged waits for rows of the thread: codex writes them some seconds later.
func logged(t *testing.T, db *sql.DB, thread string) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); count(t, db, thread) == 0; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("codex has written nothing about the thread")
		}
	}
}
