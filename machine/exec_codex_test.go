package machine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// thread is that of each command.
const thread = "01a22e9c-f355-7453-afd8-30ec5c84069d"

// A session is a WebSocket to an exec-server.
type session struct {
	c    *tenant
	conn *websocket.Conn
	last int
}

// dial opens a WebSocket, which may be refused.
func (c *tenant) dial(shown string) (*websocket.Conn, *http.Response, error) {
	ctx, cancel := context.WithTimeout(c.g.t.Context(), progtest.Patience)
	defer cancel()
	conn, res, err := websocket.Dial(ctx, c.g.url+"/v1/exec", &websocket.DialOptions{HTTPClient: c.client, HTTPHeader: c.header(shown)})
	if err == nil {
		conn.SetReadLimit(1 << 24)
	}
	return conn, res, err
}

// exec begins a session of exec-server.
func (c *tenant) exec() *session {
	c.g.t.Helper()
	conn, _, err := c.dial(c.g.token)
	if err != nil {
		c.g.t.Fatal(err)
	}
	c.g.t.Cleanup(func() { _ = conn.CloseNow() })
	s := &session{c: c, conn: conn}
	s.call("initialize", map[string]any{"clientName": "test"}, nil)
	s.write(map[string]any{"method": "initialized", "params": map[string]any{}})
	return s
}

func (s *session) write(message any) {
	s.c.g.t.Helper()
	text, err := json.Marshal(message)
	if err == nil {
		err = s.conn.Write(s.c.g.t.Context(), websocket.MessageText, text)
	}
	if err != nil {
		s.c.g.t.Fatal(err)
	}
}

// call asks the exec-server, and waits for its answer.
func (s *session) call(method string, params, result any) {
	s.c.g.t.Helper()
	s.last++
	s.write(map[string]any{"id": s.last, "method": method, "params": params})
	ctx, cancel := context.WithTimeout(s.c.g.t.Context(), progtest.Patience)
	defer cancel()
	for {
		_, text, err := s.conn.Read(ctx)
		if err != nil {
			s.c.g.t.Fatalf("%s: %v", method, err)
		}
		var answer struct {
			ID     int
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(text, &answer); err != nil || answer.ID != s.last {
			continue // a notification
		}
		if answer.Error != nil {
			s.c.g.t.Fatalf("%s: %s", method, answer.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(answer.Result, result); err != nil {
				s.c.g.t.Fatalf("%s: %s: %v", method, text, err)
			}
		}
		return
	}
}

// start starts a command, as codex does for a tool call of a thread.
func (s *session) start(id string, argv []string) {
	s.c.g.t.Helper()
	env := map[string]string{"CODEX_THREAD_ID": thread, "CODEX_SESSION_ID": "s-" + id, "CODEX_TOOL_CALL_ID": "c-" + id}
	s.call("process/start", map[string]any{
		"processId": id, "metadata": map[string]any{"threadId": thread, "toolCallId": "c-" + id}, "argv": argv, "cwd": "file://" + s.c.g.cfg.Root, "env": env, "tty": false, "pipeStdin": false, "arg0": nil,
		"envPolicy": map[string]any{"inherit": "all", "ignoreDefaultExcludes": true, "exclude": []string{}, "set": map[string]any{}, "includeOnly": []string{}},
	}, nil)
}

// ended waits for the end of the connection.
func (s *session) ended() {
	s.c.g.t.Helper()
	ctx, cancel := context.WithTimeout(s.c.g.t.Context(), progtest.Patience)
	defer cancel()
	for {
		if _, _, err := s.conn.Read(ctx); err != nil {
			if ctx.Err() != nil {
				s.c.g.t.Fatal("the connection to the exec-server does not end")
			}
			return
		}
	}
}

// TestCommandRuns: by the token, on the machine, marked.
func TestCommandRuns(t *testing.T) {
	g := start(t)
	c := g.tenant("r1", 1)
	w := c.watch()
	w.until("the first word", func(s wire.Status) bool { return s.Name == "m1" && s.Exec == 0 })
	argv, alive := g.command("it")
	c.exec().start("p1", argv)
	wait(t, "the command to run", alive)
	w.until("the exec-server to be told", func(s wire.Status) bool { return s.Exec > 0 })
	var found wire.Commands
	c.must(http.MethodGet, "/v1/commands", nil, &found)
	if len(found.Commands) != 1 || found.Commands[0].ThreadID != thread || found.Commands[0].SessionID != "s-p1" || found.Commands[0].CallID != "c-p1" {
		t.Fatalf("the commands are %+v", found)
	}
	other := g.tenant("r2", 1)
	var theirs, left wire.Commands
	other.must(http.MethodGet, "/v1/commands", nil, &theirs)
	other.must(http.MethodPost, "/v1/commands/end", found, &left)
	if len(theirs.Commands)+len(left.Commands) != 0 || !alive() {
		t.Fatalf("another runtime sees %+v, is left %+v, and the command lives: %v", theirs, left, alive())
	}
	changed := wire.Commands{Commands: []wire.Command{{Pid: found.Commands[0].Pid, ThreadID: thread, SessionID: "s-p1", CallID: "another"}}}
	c.must(http.MethodPost, "/v1/commands/end", changed, &left)
	if !alive() {
		t.Fatal("a command was ended that is none of those that were named")
	}
	c.must(http.MethodPost, "/v1/commands/end", found, &left)
	if len(left.Commands) != 0 || alive() {
		t.Errorf("left are %+v, and the command lives: %v", left, alive())
	}
}

// TestDoors: nothing goes without the right token.
func TestDoors(t *testing.T) {
	g := start(t)
	c := g.tenant("r1", 1)
	for _, path := range []string{"/metrics", "/v1/watch", "/v1/exec", "/v1/commands", "/v1/drain"} {
		for _, shown := range []string{"", "wrong"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.url+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header = c.header(shown)
			if shown == "" {
				r.Header.Del("Authorization")
			}
			res, err := c.client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if res.StatusCode != http.StatusUnauthorized {
				t.Errorf("%s with the token %q: %d", path, shown, res.StatusCode)
			}
		}
	}
	if _, res, err := c.dial("wrong"); err == nil || res == nil || res.StatusCode != http.StatusUnauthorized {
		t.Errorf("a WebSocket with a wrong token: %v", err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.url+"/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("/healthz: %d", res.StatusCode)
	}
}

// TestSilence: what runs for a runtime ends when its watch has been gone for as long as that, and no sooner; what
// runs for another goes on.
func TestSilence(t *testing.T) {
	g := start(t)
	c, other := g.tenant("r1", 1), g.tenant("r2", 1)
	w, theirs := c.watch(), other.watch()
	argv, alive := g.command("mine")
	s := c.exec()
	s.start("p1", []string{"/bin/sh", "-c", "setsid " + argv[0] + " 600 & wait"})
	argvOther, aliveOther := g.command("theirs")
	other.exec().start("p1", argvOther)
	wait(t, "the commands to run", func() bool { return alive() && aliveOther() })
	began := time.Now()
	w.end()
	s.ended()
	wait(t, "the command to end", func() bool { return !alive() })
	if took := time.Since(began); took < wire.Silence || took > wire.Silence+3*time.Second {
		t.Errorf("the command was ended after %v", took)
	}
	theirs.until("the next beat", func(wire.Status) bool { return true })
	if !aliveOther() {
		t.Error("the command of another runtime was ended, too")
	}
}

// TestLaterEpoch ends what an earlier process has, before it is answered, and no request of that is served any more.
func TestLaterEpoch(t *testing.T) {
	g := start(t)
	c, other := g.tenant("r1", 1), g.tenant("r2", 1)
	w := c.watch()
	_ = other.watch()
	argv, alive := g.command("mine")
	s := c.exec()
	s.start("p1", []string{"/bin/sh", "-c", "setsid " + argv[0] + " 600 & wait"})
	argvOther, aliveOther := g.command("theirs")
	other.exec().start("p1", argvOther)
	wait(t, "the commands to run", func() bool { return alive() && aliveOther() })
	c.must(http.MethodPut, "/v1/turns/t1", wire.Turn{}, nil)
	later := g.tenant("r1", 2)
	next := later.watch()
	if alive() {
		t.Error("the command of the earlier process runs when the later one is answered")
	}
	if now := next.until("the first word", func(wire.Status) bool { return true }); now.Mine != 0 || now.Taken != 0 {
		t.Errorf("turns of the earlier process run: %+v", now)
	}
	s.ended()
	w.ended()
	if !aliveOther() {
		t.Error("the command of another runtime was ended, too")
	}
	if status, code := c.do(http.MethodGet, "/v1/commands", nil, nil); status != http.StatusConflict || code != wire.CodeSuperseded {
		t.Errorf("the earlier process is answered %d %s", status, code)
	}
	later.exec().start("p1", argv)
	wait(t, "a command of the later process", alive)
}

// TestExecServerKilled: another one is there, and what the one before had started is not.
func TestExecServerKilled(t *testing.T) {
	g := start(t)
	c := g.tenant("r1", 1)
	w := c.watch()
	argv, alive := g.command("mine")
	s := c.exec()
	s.start("p1", []string{"/bin/sh", "-c", "setsid " + argv[0] + " 600 & wait"})
	wait(t, "the command to run", alive)
	before := w.until("the exec-server", func(s wire.Status) bool { return s.Exec > 0 }).Exec
	killed := 0
	for _, pid := range progtest.Descendants(os.Getpid()) {
		exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		if exe == realBin(t) && syscall.Kill(pid, syscall.SIGKILL) == nil {
			killed++
		}
	}
	if killed == 0 {
		t.Fatal("no exec-server runs")
	}
	s.ended()
	w.until("another exec-server", func(s wire.Status) bool { return s.Exec > before })
	if alive() {
		t.Error("a command outlives its exec-server")
	}
	wait(t, "what has lost its parent to be reaped", func() bool { return len(zombies()) == 0 })
	argv, alive = g.command("again")
	c.exec().start("p1", argv)
	wait(t, "another command", alive)
}

// realBin is the file of codex.
func realBin(t *testing.T) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(codextest.Bin(t))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// zombies are the children of this process that have ended and were not reaped.
func zombies() (pids []int) {
	for _, pid := range progtest.Descendants(os.Getpid()) {
		if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && strings.Contains(string(stat), ") Z ") {
			pids = append(pids, pid)
		}
	}
	return pids
}
