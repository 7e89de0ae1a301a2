package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/channel/control"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

// acting is what a terminal would act on, or not show.
const acting = "\u009b2J\u202e\u2800\u3164\u00a0\x7f|"

// TestJSONIsPlain: what --json prints has others' words as they are, and none of them as a
// terminal would take it.
func TestJSONIsPlain(t *testing.T) {
	said, _ := json.Marshal(acting)
	task := fmt.Sprintf(`{"id":"x","contextId":%[1]s,"status":{"state":"TASK_STATE_COMPLETED"},"history":[{"messageId":"m","role":"ROLE_USER","parts":[{"text":%[1]s}]}],
		"artifacts":[{"artifactId":"a","name":"reply","parts":[{"text":%[1]s}]}]}`, said)
	task = strings.ReplaceAll(task, "\n", "")
	runtime := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/machines" {
			_, _ = fmt.Fprintf(w, `{"machines":[{"name":%[1]s,"why":%[1]s}]}`, said)
			return
		}
		var call struct {
			ID     json.RawMessage
			Method string
		}
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &call)
		switch call.Method {
		case "SubscribeToTask":
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"task\":%s}}\n\n", call.ID, task)
		case "ListTasks":
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tasks":[%s],"totalSize":1,"pageSize":1,"nextPageToken":""}}`, call.ID, task)
		case "SendMessage":
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":%s}}`, call.ID, said)
		default:
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, call.ID, task)
		}
	}))
	defer runtime.Close()
	dir := t.TempDir()
	channel, err := control.Listen(dir, dead{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer channel.Close()

	environ := []string{"HOME=" + t.TempDir(), "RUNTIME_URL=" + runtime.URL, "RUNTIME_STATE_DIR=" + dir}
	for _, args := range []string{"task status x", "task list", "task watch x", "task start hi", "channel dead list", "machines"} {
		var out, errs bytes.Buffer
		run(t.Context(), append(strings.Fields(args), "--json"), environ, nil, &out, &errs)
		plainly(t, args, out.String())
	}
	var out bytes.Buffer
	(&program{stdout: &out}).printJSON(preflight.Report{Results: []preflight.Result{{Name: "x", Detail: acting}}}) // as of doctor
	plainly(t, "printJSON", out.String())
}

// plainly checks what was printed.
func plainly(t *testing.T, what, printed string) {
	t.Helper()
	if brief.Plain(printed) != printed {
		t.Errorf("%s prints %q", what, printed)
	}
	found := false
	for dec := json.NewDecoder(strings.NewReader(printed)); ; {
		var value any
		if err := dec.Decode(&value); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%s: %v: %q", what, err, printed)
		}
		found = found || strings.Contains(fmt.Sprint(value), acting)
	}
	if !found {
		t.Errorf("%s has lost what was said: %s", what, printed)
	}
}

// dead is a channel of which a reply was refused.
type dead struct{}

func (dead) List(context.Context) ([]channel.DeadLetter, error) {
	return []channel.DeadLetter{{ID: acting, Why: acting, Text: acting}}, nil
}

func (dead) Retry(context.Context, string) error { return nil }
