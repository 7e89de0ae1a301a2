package hostile

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakecodex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// dot is a picture of one pixel.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// TestMessageThatKillsEverything has a message kill codex and the runtime, each time that
// codex has it, as a kernel does that is short of memory for a container. It ends after three
// times if it brings a picture, over all starts of the program, and says why.
func TestMessageThatKillsEverything(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		times string
		parts []object
	}{
		"text":    {"12", []object{{"text": "!die-both"}}},
		"picture": {"3", []object{{"text": "!die-both"}, {"raw": dot, "filename": "dot.png", "mediaType": "image/png"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			killing(t, c.times, c.parts)
		})
	}
}

func killing(t *testing.T, times string, parts []object) {
	dir := codextest.Dir(t, "codex")
	codex, child := filepath.Join(dir, "codex"), filepath.Join(dir, "state")
	if err := os.Mkdir(child, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(codex, []byte(fakecodex.Program("state "+child)), 0o700); err != nil {
		t.Fatal(err)
	}
	addr := progtest.FreeAddr(t)
	p := progtest.Start(t, binary, "CODEX_BIN="+codex, "RUNTIME_ADDR="+addr, "OPENAI_API_KEY=key", "OPENAI_BASE_URL=http://127.0.0.1:9/v1")
	web := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	send := func(id string, parts ...object) (task string) {
		body := rpc("SendMessage", object{
			"message":       object{"messageId": id, "contextId": id, "role": "ROLE_USER", "parts": parts},
			"configuration": object{"returnImmediately": true},
		})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+"/", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := web.Do(req)
		if err != nil { // it is dead, or not there yet
			return ""
		}
		defer res.Body.Close()
		answer, _ := io.ReadAll(res.Body)
		return string(answer)
	}
	deaths, task := 0, ""
	progtest.WaitFor(t, "the message to end", func() bool {
		select {
		case <-p.Exited():
			deaths++
			p = p.Relaunch()
		default:
		}
		task = send("bomb", parts...)
		return strings.Contains(task, "TASK_STATE_FAILED") || deaths > 15
	})
	if strconv.Itoa(deaths) != times || !strings.Contains(task, "has ended "+times+" times before the model had this message") || !strings.Contains(task, `"interrupted":true`) {
		t.Errorf("%d deaths, and then: %s", deaths, task)
	}
	progtest.WaitFor(t, "another message to be answered", func() bool {
		return strings.Contains(send("other", object{"text": "hello"}), "TASK_STATE_COMPLETED")
	})
}
