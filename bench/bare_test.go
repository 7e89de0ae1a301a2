package bench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextest"
)

// bare drives codex app-server with as little as will do: one goroutine that
// writes a line and reads lines until the one it waits for. It is what the
// runtime is compared with.
type bare struct {
	b      *testing.B
	in     io.Writer
	out    *bufio.Reader
	nextID int
	thread string
}

func newBare(b *testing.B, start adapter.Launch) *bare {
	b.Helper()
	cmd := exec.Command(codextest.Bin(b), append([]string{"app-server"}, start.Args()...)...)
	cmd.Dir, cmd.Env = start.WorkDir, start.Env()
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
	d := &bare{b: b, in: in, out: bufio.NewReaderSize(out, 1<<20)}
	d.call("initialize", map[string]any{
		"clientInfo": map[string]any{"name": "bench", "version": "1"}, "capabilities": map[string]any{"experimentalApi": true},
	}, nil)
	d.write(map[string]any{"method": "initialized"})
	var session appserver.ThreadSession
	d.call("thread/start", appserver.ThreadStartParams{
		Cwd: cmd.Dir, ApprovalPolicy: appserver.OnRequest, Sandbox: appserver.WorkspaceWrite, ApprovalsReviewer: "user",
	}, &session)
	d.thread = session.Thread.ID
	return d
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

// turn runs one turn and returns the time to its first text and to its end.
func (d *bare) turn(text string) (first, whole time.Duration) {
	began := time.Now()
	d.nextID++
	d.write(map[string]any{"id": d.nextID, "method": "turn/start", "params": appserver.TurnStartParams{
		ThreadID: d.thread, Input: []appserver.UserInput{appserver.Text(text)},
	}})
	for {
		line := string(d.read())
		switch {
		case first == 0 && strings.Contains(line, `"item/agentMessage/delta"`):
			first = time.Since(began)
		case strings.Contains(line, `"method":"turn/completed"`):
			return first, time.Since(began)
		}
	}
}
