package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// bare drives codex app-server with as little as will do: one goroutine that
// writes a line and reads lines until the one it waits for. It is what the
// runtime is compared with.
type bare struct {
	b      *testing.B
	in     io.Writer
	out    *bufio.Reader
	dir    string // where its threads work
	nextID int
	thread string
	pid    int // of its codex

	environments []appserver.TurnEnvironment // of its threads; nil is here
}

// newBare starts one as start says, and with more arguments behind these.
func newBare(b *testing.B, start adapter.Launch, more ...string) *bare {
	b.Helper()
	cmd := exec.Command(codextest.Bin(b), slices.Concat([]string{"app-server"}, start.Args(), more)...)
	cmd.Dir, cmd.Env = start.Dir(), start.Env()
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	d := &bare{pid: cmd.Process.Pid, b: b, in: in, out: bufio.NewReaderSize(out, 1<<20), dir: start.WorkDir}
	d.call("initialize", map[string]any{
		"clientInfo":   map[string]any{"name": "bench", "version": "1"},
		"capabilities": map[string]any{"experimentalApi": true, "optOutNotificationMethods": unread},
	}, nil)
	d.write(map[string]any{"method": "initialized"})
	d.open()
	return d
}

// alike is how a codex is started as ours is: with the same overrides, environment and folders. Each
// further folder that commands may write costs codex some milliseconds of a turn (0.169.0).
func alike(b *testing.B, baseURL string, environ ...string) adapter.Launch {
	b.Helper()
	dir := b.TempDir()
	start := adapter.Launch{
		Provider: adapter.Provider{KeyName: "OPENAI_API_KEY", BaseURL: baseURL},
		Home:     codextest.Home(b), WorkDir: codextest.Dir(b, "work"), Lean: true,
		Temp: adapter.Temp{
			Commands: filepath.Join(dir, "in"), Codex: filepath.Join(dir, "out"), Guard: filepath.Join(dir, "guard"),
		},
		Environ:   append(progtest.Environ(b), environ...),
		Sandboxed: true, Project: adapter.Project{Marker: ".git/HEAD"},
	}
	for _, dir := range append(start.Temp.Roots(), start.Temp.Codex) {
		if err := os.Mkdir(dir, 0o700); err != nil {
			b.Fatal(err)
		}
	}
	register, err := start.Temp.KeepRegister(uint32(os.Getuid()))
	if err = errors.Join(err, adapter.Occupy(start.WorkDir, nil)); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = register.Close() })
	return start
}

// unread are the notifications that the runtime asks codex not to send, so that
// the bare side is not burdened with them either.
var unread = []string{
	"thread/name/updated", "thread/goal/updated", "rawResponseItem/completed",
	"item/reasoning/textDelta", "fs/changed", "skills/changed", "app/list/updated",
	"thread/readState/changed", "remoteControl/status/changed",
}

// open starts a thread, on which the turns that follow run.
func (d *bare) open() {
	var session appserver.ThreadSession
	d.call("thread/start", struct {
		appserver.ThreadStartParams
		Environments []appserver.TurnEnvironment `json:"environments,omitempty"`
	}{appserver.ThreadStartParams{
		Cwd: d.dir, ApprovalPolicy: appserver.OnRequest, Sandbox: appserver.WorkspaceWrite, ApprovalsReviewer: "user",
	}, d.environments}, &session)
	d.thread = session.Thread.ID
}

func (d *bare) write(v any) {
	line, err := json.Marshal(v)
	if err == nil {
		_, err = d.in.Write(append(line, '\n'))
	}
	if err != nil {
		d.b.Fatal(err)
	}
}

func (d *bare) read() []byte {
	line, err := d.out.ReadBytes('\n')
	if err != nil {
		d.b.Fatal(err)
	}
	return line
}

func (d *bare) call(method string, params, result any) {
	d.nextID++
	d.write(map[string]any{"id": d.nextID, "method": method, "params": params})
	prefix := fmt.Sprintf(`{"id":%d,`, d.nextID)
	for {
		line := d.read()
		if !strings.HasPrefix(string(line), prefix) {
			continue
		}
		var answer struct{ Result, Error json.RawMessage }
		if err := json.Unmarshal(line, &answer); err != nil || answer.Error != nil {
			d.b.Fatalf("%s: %v %s", method, err, answer.Error)
		}
		if result != nil {
			if err := json.Unmarshal(answer.Result, result); err != nil {
				d.b.Fatal(err)
			}
		}
		return
	}
}

// turn runs one turn, whose answer must be want, and returns the time to its
// first text and to its end.
func (d *bare) turn(text, want string) (first, whole time.Duration) {
	d.b.Helper()
	var message []byte
	began := time.Now()
	d.nextID++
	d.write(map[string]any{"id": d.nextID, "method": "turn/start", "params": appserver.TurnStartParams{
		ThreadID: d.thread, Input: []appserver.UserInput{appserver.Text(text)},
	}})
	for whole == 0 {
		line := d.read()
		switch {
		case first == 0 && bytes.Contains(line, []byte(`"item/agentMessage/delta"`)):
			first = time.Since(began)
		case bytes.Contains(line, []byte(`"method":"item/completed"`)) && bytes.Contains(line, []byte(`"agentMessage"`)):
			message = line
		case bytes.Contains(line, []byte(`"method":"turn/completed"`)):
			whole = time.Since(began)
		}
	}
	var got struct{ Params appserver.ItemNote }
	if err := json.Unmarshal(message, &got); err != nil || got.Params.Item.Text != want {
		d.b.Fatalf("%q on the bare side: %v: want %.100q in %.2000s", text, err, want, message)
	}
	return first, whole
}
