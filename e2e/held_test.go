package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakelogin"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

const authRequired = "TASK_STATE_AUTH_REQUIRED"

// fetch gets a page of the program.
func (p *program) fetch(path string) (status int, body string) {
	p.t.Helper()
	res, err := http.Get(p.URL + path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// oldSend sends a blocking message by 0.3 and returns the result.
func (p *program) oldSend(id, contextID, text string) object {
	p.t.Helper()
	m := object{"kind": "message", "messageId": id, "contextId": contextID, "role": "user", "parts": []object{{"kind": "text", "text": text}}}
	result, ok := p.call("message/send", object{"message": m})["result"].(object)
	if !ok {
		p.t.Fatal("no result")
	}
	return result
}

func statusText(task object) string {
	s, _ := at(task, "status", "message", "parts", 0, "text").(string)
	return s
}

// TestRefusedKeyAndAKill has the provider refuse the key: callers of both versions
// are told, the runtime is not ready, and after a SIGKILL and with a key that is
// taken the messages run, each once.
func TestRefusedKeyAndAKill(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	p := start(t)
	p.Model.SetScript(func(turn *fakemodel.Turn) { turn.Fail(http.StatusUnauthorized, `{"error":{"message":"bad key"}}`) })
	first := p.send("m1", "one", "say one")
	if state(first) != authRequired || !strings.Contains(statusText(first), "OPENAI_API_KEY") ||
		at(first, "status", "message", "parts", 1, "data", "variable") != "OPENAI_API_KEY" {
		t.Errorf("task = %v, want it to need a key", first["status"])
	}
	old := p.oldSend("m2", "two", "say two")
	if at(old, "status", "state") != "auth-required" {
		t.Errorf("by 0.3 the task is %v", old["status"])
	}
	m := object{"kind": "message", "messageId": "m4", "contextId": "two", "role": "user", "parts": []object{{"kind": "text", "text": "say four"}}}
	stream := p.stream(t.Context(), "message/stream", object{"message": m})
	var last object
	for event := stream.next(); event != nil; event = stream.next() {
		last = event
	}
	if at(last, "status", "state") != "auth-required" || at(last, "final") != true {
		t.Errorf("by 0.3 the stream ends with %v", last)
	}
	refused := len(p.Model.Requests())
	if refused != 2 { // by a WebSocket codex tries such a refusal once more
		t.Errorf("the model was asked %d times, want twice", refused)
	}
	if code, body := p.fetch("/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "it refuses the credential") {
		t.Errorf("/readyz: %d %s", code, body)
	}
	if _, body := p.fetch("/metrics"); !strings.Contains(body, `molecule_codex_held{reason="auth"} 1`) {
		t.Error("/metrics does not say that turns are held")
	}
	p.Model.SetScript(fakemodel.Keywords)
	p.again()
	for id, want := range map[any]string{first["id"]: "one", old["id"]: "two"} {
		if task := p.ended(id); state(task) != "TASK_STATE_COMPLETED" || !strings.Contains(text(task), want) {
			t.Errorf("after the restart: %v", task)
		}
	}
	p.ended(last["taskId"])
	if n := len(p.Model.Requests()) - refused; n != 3 {
		t.Errorf("the model was asked %d times after the restart, want three times", n)
	}
}

// withoutLogin makes an issuer of logins and a model that wants one, and the settings of a
// codex that has none.
func withoutLogin(t *testing.T) (*fakelogin.Issuer, *modeltest.Model, []string) {
	t.Helper()
	issuer := fakelogin.Start(t)
	model := modeltest.Start(t, func(turn *fakemodel.Turn) {
		if turn.Headers.Get("Authorization") == "" {
			turn.Fail(http.StatusUnauthorized, `{"error":{"message":"no key"}}`)
			return
		}
		fakemodel.Keywords(turn)
	})
	home := codextest.Home(t)
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(issuer.Config(model.BaseURL())), 0o600); err != nil {
		t.Fatal(err)
	}
	return issuer, model, append(issuer.Env(), "CODEX_HOME="+home)
}

// TestLoginOverA2A logs codex in by the code that a task shows.
func TestLoginOverA2A(t *testing.T) {
	t.Parallel()
	issuer, model, settings := withoutLogin(t)
	settings = append(settings, "RUNTIME_REPLY=message", "RUNTIME_LOG=debug")
	p := &program{Program: progtest.Start(t, binary, settings...), Model: model, t: t}

	reply := p.oldSend("m1", "one", "say one")
	words, _ := at(reply, "parts", 0, "text").(string)
	if reply["kind"] != "message" || !strings.Contains(words, fakelogin.UserCode) || !strings.Contains(words, issuer.URL+"/codex/device") || unauthorized.MatchString(words) {
		t.Errorf("reply = %v, want a message with the link and the code", reply)
	}
	task := p.get(reply["taskId"])
	if data := at(task, "status", "message", "parts", 1, "data"); state(task) != authRequired || at(data, "userCode") != fakelogin.UserCode {
		t.Errorf("task = %v", task["status"])
	}
	for path, want := range map[string]int{"/readyz": http.StatusServiceUnavailable, "/metrics": http.StatusOK} {
		if code, page := p.fetch(path); code != want || strings.Contains(page, fakelogin.UserCode) || strings.Contains(page, "/codex/device") {
			t.Errorf("%s while the login is missing: %d\n%s", path, code, page)
		}
	}
	issuer.Approve()
	if task = p.ended(reply["taskId"]); state(task) != "TASK_STATE_COMPLETED" || !strings.Contains(text(task), "one") {
		t.Errorf("after the login: %v", task)
	}
	progtest.WaitFor(t, "readiness", func() bool { code, _ := p.fetch("/readyz"); return code == http.StatusOK })
	for _, secret := range []string{"refresh-", "eyJ", fakelogin.Email, fakelogin.UserCode, "/codex/device"} {
		if strings.Contains(p.Log(), secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
}

// TestUsageLimitOverA2A fails who has met it, and has who does not wait go on.
func TestUsageLimitOverA2A(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	p := start(t)
	var over atomic.Bool
	var end atomic.Int64 // of the limit, which begins when it is met
	p.Model.SetScript(func(turn *fakemodel.Turn) {
		if !over.Load() {
			at := time.Now().Add(20 * time.Second).Truncate(time.Second)
			end.Store(at.Unix())
			turn.UsageLimit(time.Until(at))
			return
		}
		fakemodel.Keywords(turn)
	})
	failed := p.send("m1", "one", "say one")
	resets := time.Unix(end.Load(), 0)
	failure, _ := at(failed, "metadata", "failure").(object)
	at1, err := time.Parse(time.RFC3339, failure["resetsAt"].(string))
	if state(failed) != "TASK_STATE_FAILED" || failure["kind"] != "limit" || failure["limit"] != "5h" || err != nil || at1.Sub(resets).Abs() > time.Second ||
		!strings.Contains(statusText(failed), failure["resetsAt"].(string)) {
		t.Errorf("task = %v, %v", failed["status"], failure)
	}
	if old := p.oldSend("m2", "two", "say two"); at(old, "status", "state") != "failed" || at(old, "metadata", "failure", "kind") != "limit" {
		t.Errorf("by 0.3: %v", old)
	}
	waiting := p.begin("m3", "three", "say three")
	task := p.get(waiting["id"])
	if state(task) != "TASK_STATE_SUBMITTED" || at(task, "metadata", "held", "limit") != "5h" {
		t.Errorf("the one that waits: %v", task)
	}
	over.Store(true)
	progtest.WaitFor(t, "readiness to say what messages wait for", func() bool {
		code, body := p.fetch("/readyz")
		return code == http.StatusOK && json.Valid([]byte(body)) && strings.Contains(body, "messages wait until "+failure["resetsAt"].(string))
	})
	if n := len(p.Model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times, want once", n)
	}
	if task = p.ended(waiting["id"]); state(task) != "TASK_STATE_COMPLETED" || time.Now().Before(resets.Add(-time.Second)) {
		t.Errorf("at %s: %v", time.Now(), task)
	}
}
