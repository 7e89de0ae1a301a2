package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

const consoleToken = "token-of-the-console-tests"

// A browser is one person's session with the console, without the page.
type browser struct {
	p      *program
	client *http.Client
	key    string // that the login's answer had in it
}

func (p *program) browser() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	return &browser{p: p, client: &http.Client{Jar: jar}}
}

func (b *browser) do(method, path, media, body string, header ...string) (status int, answer string) {
	b.p.t.Helper()
	res := b.open(method, path, media, body, header...)
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	if err != nil {
		b.p.t.Fatal(err)
	}
	return res.StatusCode, string(all)
}

func (b *browser) open(method, path, media, body string, header ...string) *http.Response {
	b.p.t.Helper()
	req, err := http.NewRequestWithContext(b.p.t.Context(), method, b.p.URL+path, strings.NewReader(body))
	if err != nil {
		b.p.t.Fatal(err)
	}
	req.Header.Set("Content-Type", media)
	if b.key != "" {
		req.Header.Set("X-Console-Key", b.key)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := b.client.Do(req)
	if err != nil {
		b.p.t.Fatal(err)
	}
	return res
}

// login gives the token in the form; the answer has the session's key in it.
func (b *browser) login(token string) int {
	b.p.t.Helper()
	status, answer := b.do(http.MethodPost, "/console/login", "application/x-www-form-urlencoded", url.Values{"token": {token}}.Encode(), "Origin", b.p.URL)
	_, answer, _ = strings.Cut(answer, `name="session-key" content="`)
	b.key, _, _ = strings.Cut(answer, `"`)
	return status
}

// call is a call of A2A by way of the console.
func (b *browser) call(method string, params any) object {
	b.p.t.Helper()
	body, err := json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		b.p.t.Fatal(err)
	}
	status, answer := b.do(http.MethodPost, "/console/api/a2a", "application/json", string(body), "X-Console", "1", "Origin", b.p.URL)
	var out object
	if err := json.Unmarshal([]byte(answer), &out); err != nil || status != http.StatusOK {
		b.p.t.Fatalf("%s: %d %s", method, status, answer)
	}
	return out
}

func (b *browser) state() object {
	b.p.t.Helper()
	status, answer := b.do(http.MethodGet, "/console/api/state", "", "")
	var out object
	if err := json.Unmarshal([]byte(answer), &out); err != nil || status != http.StatusOK {
		b.p.t.Fatalf("state: %d %s", status, answer)
	}
	return out
}

// A watcher reads the stream of the console.
type watcher struct {
	t     *testing.T
	lines *bufio.Scanner
	last  map[string]object // by the name of the event
}

func (b *browser) watch() *watcher {
	b.p.t.Helper()
	res := b.open(http.MethodGet, "/console/api/events", "", "")
	late := time.AfterFunc(2*time.Minute, func() { res.Body.Close() }) // what is waited for does not come any more
	b.p.t.Cleanup(func() { late.Stop(); res.Body.Close() })
	if res.StatusCode != http.StatusOK {
		b.p.t.Fatalf("events: %d", res.StatusCode)
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	return &watcher{b.p.t, lines, map[string]object{}}
}

// until reads on to the first event of that name that will do; the last one that was read
// may do already.
func (w *watcher) until(name string, ok func(object) bool) object {
	w.t.Helper()
	if last := w.last[name]; last != nil && ok(last) {
		return last
	}
	var event string
	for w.lines.Scan() {
		key, value, _ := strings.Cut(w.lines.Text(), ": ")
		switch key {
		case "event":
			event = value
		case "data":
			var data object
			if err := json.Unmarshal([]byte(value), &data); err != nil {
				w.t.Fatalf("%s: %v", value, err)
			}
			w.last[event] = data
			if event == name && ok(data) {
				return data
			}
		}
	}
	w.t.Fatalf("the stream ended without the %s that was waited for: %v", name, w.lines.Err())
	return nil
}

// TestConsole has a person log in, see what others send, answer what codex asks, steer,
// cancel, look at the checks, and come back after a restart.
func TestConsole(t *testing.T) {
	p := start(t, "RUNTIME_TOKEN="+consoleToken)
	b := p.browser()
	if status, page := b.do(http.MethodGet, "/console", "", ""); status != http.StatusOK || !strings.Contains(page, "/console/login") {
		t.Fatalf("the page without a session: %d %s", status, page)
	}
	if status := b.login("wrong"); status != http.StatusUnauthorized {
		t.Errorf("a wrong token: %d", status)
	}
	if status := b.login(consoleToken); status != http.StatusOK {
		t.Fatalf("the token: %d", status)
	}
	events := b.watch()
	events.until("state", func(s object) bool {
		return at(s, "ready", "ok") == true && at(s, "child", "pid") == float64(p.Child())
	})

	b.answersAnother(t, events)
	b.steersAndCancels(t, events)

	status, report := b.do(http.MethodPost, "/console/api/doctor", "", "", "X-Console", "1")
	if status != http.StatusOK || strings.Contains(report, `"ok":false`) || !strings.Contains(report, `"name":"sandbox"`) {
		t.Errorf("doctor: %d %s", status, report)
	}
	status, all := b.do(http.MethodGet, "/console/api/state", "", "")
	for _, secret := range []string{consoleToken, "key-of-the-e2e-suite"} {
		if strings.Contains(all+report, secret) {
			t.Errorf("%s stands in the state (%d) or the report", secret, status)
		}
	}

	p.again()
	if status, _ := b.do(http.MethodGet, "/console/api/state", "", ""); status != http.StatusUnauthorized {
		t.Errorf("the session outlived the runtime: %d", status)
	}
	b.login(consoleToken)
	threads, _ := b.state()["threads"].([]any)
	if len(threads) == 0 || at(threads, 0, "threadId") == "" {
		t.Errorf("after a restart the threads are %v", threads)
	}
	b.watch().until("task", func(task object) bool {
		return task["title"] == "escalate echo ran" && task["state"] == "TASK_STATE_COMPLETED"
	})
}

// answersAnother answers what codex asks in the task of somebody else.
func (b *browser) answersAnother(t *testing.T, events *watcher) {
	t.Helper()
	body, err := json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": object{
		"message": message("m1", "one", "escalate echo ran"), "configuration": object{"returnImmediately": true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.p.URL+"/", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+consoleToken)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	asks := events.until("task", func(task object) bool { return task["question"] == true })
	if asks["title"] != "escalate echo ran" || asks["contextId"] != "one" || asks["state"] != "TASK_STATE_INPUT_REQUIRED" {
		t.Errorf("the task that asks is %v", asks)
	}
	progtest.WaitFor(t, "its turn to be shown", func() bool { return at(b.state(), "queue", "contexts", 0, "running") == asks["id"] })
	done := b.call("SendMessage", answer(asks, "a1", "yes"))
	if s := at(done, "result", "task", "status", "state"); s != "TASK_STATE_COMPLETED" {
		t.Errorf("answered, the task is %v", done)
	}
	events.until("task", func(task object) bool { return task["id"] == asks["id"] && task["state"] == "TASK_STATE_COMPLETED" })
	events.until("state", func(s object) bool {
		tokens, _ := at(s, "threads", 0, "totalTokens").(float64)
		return tokens > 0 && at(s, "threads", 0, "loaded") == true && at(s, "queue", "running") == 0.0
	})
}

// steersAndCancels has one task go on in another way, and ends another.
func (b *browser) steersAndCancels(t *testing.T, events *watcher) {
	t.Helper()
	begin := func(id, text string) object {
		return at(b.call("SendMessage", object{
			"message": message(id, "two", text), "configuration": object{"returnImmediately": true},
		}), "result", "task").(object)
	}
	runs := func(task object) func(object) bool {
		return func(t object) bool { return t["id"] == task["id"] && t["state"] != "TASK_STATE_SUBMITTED" }
	}
	blocks := b.p.blocker()
	steered := begin("s1", "run "+blocks.command)
	events.until("task", runs(steered))
	blocks.runs()
	word := answer(steered, "s2", "say other")
	word["configuration"] = object{"returnImmediately": true}
	if taken := b.call("SendMessage", word); at(taken, "result", "task", "metadata", "turn") != "steered" {
		t.Errorf("steered, the task is %v", taken)
	}
	blocks.letGo()
	events.until("task", func(task object) bool { return task["id"] == steered["id"] && task["state"] == "TASK_STATE_COMPLETED" })
	hanging := begin("c1", "hang")
	waiting := begin("c2", "say late")
	events.until("task", runs(hanging))
	progtest.WaitFor(t, "the message behind it to be shown", func() bool {
		return at(b.state(), "queue", "contexts", 0, "waiting", 0) == waiting["id"]
	})
	if done := b.call("CancelTask", object{"id": hanging["id"]}); at(done, "result", "status", "state") != "TASK_STATE_CANCELED" {
		t.Errorf("canceled, the task is %v", done)
	}
	events.until("task", func(task object) bool { return task["id"] == waiting["id"] && task["state"] == "TASK_STATE_COMPLETED" })
}
