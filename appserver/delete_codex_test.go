package appserver_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/rollout"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// TestCodexDelete: of a deleted thread nothing is left, loaded or not, with its file or without; one
// that is gone is no error.
func TestCodexDelete(t *testing.T) {
	model, home := modeltest.Start(t, fakemodel.Keywords), codextest.Home(t)
	c := startWith(t, appserver.Config{
		Bin: codextest.Bin(t), Args: model.Overrides(), Dir: codextest.Dir(t, "work"),
		Env: append(os.Environ(), "CODEX_HOME="+home, model.Env()),
	})
	for name, before := range map[string]func(id, path string) error{
		"loaded":              func(string, string) error { return nil },
		"unloaded":            func(id, _ string) error { return c.ThreadUnload(patient(t), id) },
		"loaded-without-file": func(_, path string) error { return os.Remove(path) },
		"no-file": func(id, path string) error {
			if err := c.ThreadUnload(patient(t), id); err != nil {
				return err
			}
			return os.Remove(path)
		},
	} {
		session, err := c.ThreadStart(patient(t), appserver.ThreadStartParams{})
		if err != nil {
			t.Fatal(err)
		}
		id, path := session.Thread.ID, session.Thread.Path
		events := c.Subscribe(id)
		turn(t, c, id, "say hello")
		collect(t, events, appserver.NoteTurnCompleted)
		events.Close()
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if sizes, err := (rollout.Home{Dir: home}).Sizes(func(thread, path string) string { return thread + rollout.SessionOf(path) }); err != nil || sizes[id+id] != info.Size() {
			t.Errorf("%s: %d bytes in %s, and %v, %v", name, info.Size(), path, sizes, err)
		}
		if err := before(id, path); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := c.ThreadDelete(patient(t), id); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if left, err := filepath.Glob(filepath.Join(home, "*", "*", "*", "*", "*"+id+"*")); err != nil || len(left) > 0 {
			t.Errorf("%s: left are %v, %v", name, left, err)
		}
		var listed struct {
			Data []struct {
				ID string `json:"id"`
			} `json:"data"`
		}
		if err := c.Call(patient(t), "thread/list", map[string]any{}, &listed); err != nil || len(listed.Data) > 0 {
			t.Errorf("%s: listed are %v, %v", name, listed.Data, err)
		}
	}
}
