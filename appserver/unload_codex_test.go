package appserver_test

import (
	"os"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// TestCodexUnload: an unloaded thread can be resumed, also where a kill has come between the two
// calls of which that consists.
func TestCodexUnload(t *testing.T) {
	model := modeltest.Start(t, fakemodel.Keywords)
	cfg := appserver.Config{
		Bin: codextest.Bin(t), Args: model.Overrides(), Dir: codextest.Dir(t, "work"),
		Env: append(os.Environ(), "CODEX_HOME="+codextest.Home(t), model.Env()),
	}
	c := startWith(t, cfg)
	session, err := c.ThreadStart(patient(t), appserver.ThreadStartParams{})
	if err != nil {
		t.Fatal(err)
	}
	id, path := session.Thread.ID, session.Thread.Path
	events := c.Subscribe(id)
	turn(t, c, id, "say hello")
	collect(t, events, appserver.NoteTurnCompleted)
	events.Close()
	if err := c.ThreadUnload(patient(t), id); err != nil {
		t.Fatal(err)
	}
	if loaded, err := c.ThreadsLoaded(patient(t)); err != nil || len(loaded) != 0 {
		t.Errorf("loaded are %v, %v", loaded, err)
	}
	resume := func() {
		t.Helper()
		if got, err := c.ThreadResume(patient(t), appserver.ThreadResumeParams{ThreadID: id}); err != nil || got.Thread.Path != path {
			t.Errorf("resumed: %q, %v, want %q", got.Thread.Path, err, path)
		}
	}
	resume()
	if err := c.Call(patient(t), "thread/archive", map[string]string{"threadId": id}, nil); err != nil {
		t.Fatal(err)
	}
	c.Kill()
	<-c.Done()
	c = startWith(t, cfg)
	resume()
}
