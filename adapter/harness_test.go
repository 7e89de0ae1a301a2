package adapter

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// A model is a scripted model that has one command run, and records what it is
// asked with and by whom.
type model struct {
	*httptest.Server
	mu      sync.Mutex
	auths   []string
	models  []string
	headers []string // the names of those of the last request, sorted
	other   int      // requests for something else
	out     string   // what the command printed
}

func (m *model) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.auths, m.models, m.out = nil, nil, ""
}

func newModel(t *testing.T, command string) *model {
	m := &model{}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/responses" || r.Method != http.MethodPost {
			m.mu.Lock()
			m.other++
			m.mu.Unlock()
			if r.Header.Get("Upgrade") != "" { // codex's own provider tries this first
				w.WriteHeader(http.StatusUpgradeRequired)
				return
			}
			http.NotFound(w, r)
			return
		}
		var req struct {
			Model string
			Input []struct{ Type, Output string }
		}
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &req)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.auths = append(m.auths, r.Header.Get("Authorization"))
		m.models = append(m.models, req.Model)
		m.headers = slices.Sorted(maps.Keys(r.Header))
		for _, in := range req.Input {
			if in.Type == "function_call_output" {
				m.out = in.Output
			}
		}
		args, _ := json.Marshal(map[string]any{"cmd": command})
		item := map[string]any{"type": "function_call", "id": "f1", "call_id": "c1", "name": "exec_command", "arguments": string(args)}
		if m.out != "" || command == "" {
			item = map[string]any{"type": "message", "id": "m1", "role": "assistant", "content": []any{map[string]any{"type": "output_text", "text": "done"}}}
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range []map[string]any{
			{"type": "response.created", "response": map[string]any{"id": "r"}},
			{"type": "response.output_item.done", "item": item},
			{"type": "response.completed", "response": map[string]any{"id": "r", "usage": map[string]any{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}},
		} {
			text, _ := json.Marshal(e)
			fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e["type"], text)
		}
	}))
	t.Cleanup(m.Close)
	return m
}

// turn runs one turn on a real codex and returns its whole command line.
func turn(t *testing.T, l Launch) (argv string) {
	t.Helper()
	cmd := exec.Command(codextest.Bin(t), append([]string{"app-server"}, l.Args()...)...)
	cmd.Env, cmd.Dir = l.Env(), l.WorkDir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	expiry := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 64<<20)
	// until reads up to the answer of call id or the notification named.
	until := func(id int, method string) map[string]any {
		for lines.Scan() {
			var m struct {
				ID            *int
				Method        string
				Result, Error map[string]any
				Params        map[string]any
			}
			_ = json.Unmarshal(lines.Bytes(), &m)
			if m.ID != nil && m.Method == "" && *m.ID == id && method == "" {
				if m.Error != nil {
					t.Fatalf("call %d: %v", id, m.Error)
				}
				return m.Result
			}
			if method != "" && m.Method == method {
				return m.Params
			}
		}
		t.Fatalf("codex ended before %q: %s", method, stderr.String())
		return nil
	}
	say := func(format string, a ...any) { fmt.Fprintf(in, format+"\n", a...) }
	say(`{"id":1,"method":"initialize","params":{"clientInfo":{"name":"t","version":"0"},"capabilities":{"experimentalApi":true}}}`)
	until(1, "")
	say(`{"method":"initialized"}`)
	say(`{"id":2,"method":"thread/start","params":{"cwd":%q,"approvalPolicy":"never","sandbox":"danger-full-access"}}`, cmd.Dir)
	thread := until(2, "")["thread"].(map[string]any)["id"]
	say(`{"id":3,"method":"turn/start","params":{"threadId":%q,"input":[{"type":"text","text":"go"}]}}`, thread)
	end := until(3, "turn/completed")
	cmdline, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	in.Close()
	for lines.Scan() { // until the child has closed its end
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("codex: %v: %s", err, stderr.String())
	}
	expiry.Stop()
	if status := end["turn"].(map[string]any)["status"]; status != "completed" {
		t.Fatalf("the turn ended as %v: %v", status, end)
	}
	return strings.ReplaceAll(string(cmdline), "\x00", " ")
}
