package fakemodel_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
)

// patience is how long a test waits for the real codex before it gives up.
const patience = 60 * time.Second

// A codex is a real app-server, spoken to in plain lines: these tests must not
// depend on the packages that the model is there to test.
type codex struct {
	tb    testing.TB
	model *modeltest.Model
	cwd   string
	pid   int
	stdin io.Writer
	lines chan line // closed when stdout ends
	id    int
}

// A line is one message of the app-server.
type line struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// start runs codex against script until the test ends.
func start(tb testing.TB, script fakemodel.Script, args ...string) *codex {
	tb.Helper()
	return startWith(tb, modeltest.Start(tb, script), args...)
}

func startWith(tb testing.TB, model *modeltest.Model, args ...string) *codex {
	tb.Helper()
	cwd := codextest.Dir(tb, "work")
	cmd := exec.Command(codextest.Bin(tb), append(append([]string{"app-server"}, model.Overrides()...), args...)...)
	cmd.Dir = cwd
	cmd.Env = append(os.Environ(), "CODEX_HOME="+codextest.Home(tb), model.Env())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	c := &codex{tb: tb, model: model, cwd: cwd, pid: cmd.Process.Pid, stdin: stdin, lines: make(chan line, 1<<17)}
	var reading sync.WaitGroup
	reading.Go(func() { c.read(stdout) })
	tb.Cleanup(func() {
		_ = stdin.Close()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		reading.Wait()
		_ = cmd.Wait()
	})
	c.call("initialize", map[string]any{
		"clientInfo":   map[string]any{"name": "fakemodel_test", "version": "0"},
		"capabilities": map[string]any{"experimentalApi": true},
	})
	c.send(map[string]any{"method": "initialized"})
	return c
}

func (c *codex) read(stdout io.Reader) {
	defer close(c.lines)
	r := bufio.NewReaderSize(stdout, 1<<16)
	for {
		text, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		var l line
		if json.Unmarshal(text, &l) == nil {
			c.lines <- l
		}
	}
}

func (c *codex) send(v any) {
	c.tb.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		c.tb.Fatal(err)
	}
	if _, err := c.stdin.Write(append(data, '\n')); err != nil {
		c.tb.Fatal(err)
	}
}

// post sends a request and does not wait for its answer.
func (c *codex) post(method string, params any) {
	c.tb.Helper()
	c.id++
	c.send(map[string]any{"id": c.id, "method": method, "params": params})
}

// call sends a request and waits for its answer; what comes before it is lost.
func (c *codex) call(method string, params any) json.RawMessage {
	c.tb.Helper()
	c.post(method, params)
	for l := c.next(); ; l = c.next() {
		if l.Method != "" || string(l.ID) != itoa(c.id) {
			continue
		}
		if l.Error != nil {
			c.tb.Fatalf("%s: %s", method, l.Error)
		}
		return l.Result
	}
}

func (c *codex) next() line {
	c.tb.Helper()
	select {
	case l, ok := <-c.lines:
		if !ok {
			c.tb.Fatal("codex has ended")
		}
		return l
	case <-time.After(patience):
		c.tb.Fatal("codex says nothing")
	}
	return line{}
}

// thread starts a thread that may do anything and asks nothing.
func (c *codex) thread() string {
	c.tb.Helper()
	result := c.call("thread/start", map[string]any{"cwd": c.cwd, "approvalPolicy": "never", "sandbox": "danger-full-access"})
	var session struct {
		Thread struct {
			ID string `json:"id"`
		} `json:"thread"`
	}
	if err := json.Unmarshal(result, &session); err != nil {
		c.tb.Fatal(err)
	}
	return session.Thread.ID
}

// A turn is what the notifications of one turn told.
type turn struct {
	id, status string
	notes      []line
	items      []item // completed, in order
	err        string // the error of turn/completed, as JSON
}

type item struct {
	Type, ID, Text, Phase, Command, AggregatedOutput, Status string
	Summary                                                  []string
	ExitCode                                                 *int
}

// begin starts a turn without waiting for its end.
func (c *codex) begin(thread, text string) {
	c.tb.Helper()
	c.post("turn/start", map[string]any{
		"threadId": thread, "input": []any{map[string]any{"type": "text", "text": text}},
	})
}

// run starts a turn and reads until it ends.
func (c *codex) run(thread, text string) *turn {
	c.tb.Helper()
	c.begin(thread, text)
	return c.finish()
}

// finish reads until a turn ends.
func (c *codex) finish() *turn {
	c.tb.Helper()
	t := &turn{}
	for {
		l := c.next()
		if l.Error != nil {
			c.tb.Fatalf("codex refuses: %s", l.Error)
		}
		if l.Method == "" {
			continue
		}
		t.notes = append(t.notes, l)
		if t.take(c.tb, l) {
			return t
		}
	}
}

// take reads one notification and reports whether it ended the turn.
func (t *turn) take(tb testing.TB, l line) bool {
	tb.Helper()
	var p struct {
		Item item `json:"item"`
		Turn struct {
			ID     string          `json:"id"`
			Status string          `json:"status"`
			Error  json.RawMessage `json:"error"`
		} `json:"turn"`
	}
	switch l.Method {
	case "turn/started", "turn/completed", "item/completed":
		if err := json.Unmarshal(l.Params, &p); err != nil {
			tb.Fatalf("%s: %v", l.Method, err)
		}
	}
	switch l.Method {
	case "turn/started":
		t.id = p.Turn.ID
	case "item/completed":
		t.items = append(t.items, p.Item)
	case "turn/completed":
		t.status, t.err = p.Turn.Status, string(p.Turn.Error)
		return true
	}
	return false
}

// text is what the agent said, messages joined by line breaks.
func (t *turn) text() string {
	var texts []string
	for _, it := range t.items {
		if it.Type == "agentMessage" {
			texts = append(texts, it.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// item returns the first completed item of a type.
func (t *turn) item(kind string) (item, bool) {
	for _, it := range t.items {
		if it.Type == kind {
			return it, true
		}
	}
	return item{}, false
}

// note returns the parameters of the last notification of a method, as JSON.
func (t *turn) note(method string) string {
	for i := len(t.notes) - 1; i >= 0; i-- {
		if t.notes[i].Method == method {
			return string(t.notes[i].Params)
		}
	}
	return ""
}

func (t *turn) count(method string) int {
	n := 0
	for _, l := range t.notes {
		if l.Method == method {
			n++
		}
	}
	return n
}

func itoa(n int) string {
	data, _ := json.Marshal(n)
	return string(data)
}

// waitRequest waits until the model has been asked n times.
func (c *codex) waitRequest(n int) {
	c.tb.Helper()
	deadline := time.Now().Add(patience)
	for len(c.model.Requests()) < n {
		if time.Now().After(deadline) {
			c.tb.Fatalf("the model has been asked %d times, want %d", len(c.model.Requests()), n)
		}
		time.Sleep(2 * time.Millisecond) // a poll, not a barrier
	}
}

// turnID reads on until a turn has started.
func (c *codex) turnID() string {
	c.tb.Helper()
	t := &turn{}
	for t.id == "" {
		t.take(c.tb, c.next())
	}
	return t.id
}
