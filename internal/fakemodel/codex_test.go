package fakemodel_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
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
	// HOME is an empty one, too: commands run in a login shell, whose start-up
	// files are this machine's business and may take seconds.
	cmd.Env = append(os.Environ(), "CODEX_HOME="+codextest.Home(tb), "HOME="+codextest.Dir(tb, "user"), model.Env())
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

// finish reads until a turn ends. A script that goes round in circles is cut
// off: each of its notifications would be a sign of life.
func (c *codex) finish() *turn {
	c.tb.Helper()
	t := &turn{}
	for deadline := time.Now().Add(patience); ; {
		l := c.next()
		if time.Now().After(deadline) {
			c.tb.Fatalf("the turn does not end: %d model requests so far", len(c.model.Requests()))
		}
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
