package browser

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// A program is a runtime with a scripted model behind it.
type program struct {
	*progtest.Program
	Model *modeltest.Model
	t     *testing.T
}

// start runs the program on the model that obeys keywords. Extra settings are
// NAME=value.
func start(t *testing.T, extra ...string) *program {
	t.Helper()
	model := modeltest.Start(t, fakemodel.Keywords)
	settings := append([]string{
		"OPENAI_BASE_URL=" + model.BaseURL(), "OPENAI_API_KEY=key-of-the-browser-suite", "RUNTIME_LOG=debug",
	}, extra...)
	return &program{Program: progtest.Start(t, binary, settings...), Model: model, t: t}
}

// console opens the program's console, and waits until it is connected.
func (r *program) console(t *testing.T) *page {
	t.Helper()
	p := open(t, r.URL+"/console")
	p.sees("#link", "Live")
	return p
}

// post begins a task as any other A2A client would, and returns its id.
func (r *program) post(id, contextID, text string) string {
	r.t.Helper()
	return r.postParts(id, contextID, []object{{"text": text}})
}

type object = map[string]any

func (r *program) postParts(id, contextID string, parts []object) string {
	r.t.Helper()
	return r.postMarked(id, contextID, nil, parts)
}

func (r *program) postMarked(id, contextID string, metadata object, parts []object) string {
	r.t.Helper()
	body, err := json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": object{
		"message":       object{"messageId": id, "contextId": contextID, "role": "ROLE_USER", "parts": parts, "metadata": metadata},
		"configuration": object{"returnImmediately": true},
	}})
	if err != nil {
		r.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, r.URL+"/", bytes.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	said, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	var answer struct {
		Result struct{ Task struct{ ID string } }
	}
	if err := json.Unmarshal(said, &answer); err != nil || answer.Result.Task.ID == "" {
		r.t.Fatalf("no task: %v, %s", err, said)
	}
	return answer.Result.Task.ID
}

// home is a CODEX_HOME with that config.toml in it.
func home(t *testing.T, config string) string {
	t.Helper()
	dir := codextest.Home(t)
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
