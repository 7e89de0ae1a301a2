package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// BenchmarkSteer is what the runtime itself costs a message to a running turn, as
// in BenchmarkSpans: "in" is from before the client writes its request until codex
// has read turn/steer, "out" from before codex writes turn/completed until the
// sender of that message has read the answer of the task. "told" is the whole
// request of a sender who does not wait for the task's end, but hears that its
// message was taken: the message is on the disk by then, which is most of it.
func BenchmarkSteer(b *testing.B) {
	const turns, warm = 1000, 50
	const held, text = "!hold", "hello"
	const want = held + "\n" + text
	file := filepath.Join(codextest.Dir(b, "stamps"), "stamps")
	p := progtest.Start(b, program, append(fakeSettings(b, "turn echo"), stampsEnv+"="+file)...)
	ours := newClient(b, p.URL, "bench", 0)
	ours.checked()
	type moments struct{ began, ended int64 }
	var steers []moments
	took := series{}
	for n := range warm + turns {
		id := ours.hold(held)
		began := clock()
		whole := ours.steer(id, text, want)
		steers = append(steers, moments{began, began + whole.Nanoseconds()})
		told := ours.tell(ours.hold(held), text)
		if n >= warm {
			took.add("told", told)
		}
	}
	codex := stamps(b, file, 2*(warm+turns))
	for n := warm; n < warm+turns; n++ {
		turn := codex[2*n]
		took.add("in", time.Duration(turn.read-steers[n].began))
		took.add("out", time.Duration(steers[n].ended-turn.completed))
	}
	took.report(b, "in", "out", "told")
}

// hold begins a turn and returns its task once it runs.
func (c *client) hold(text string) string {
	c.b.Helper()
	stream, body, id := c.task("SendStreamingMessage", c.message(text))
	defer body.Close()
	var seen []byte
	for buf := make([]byte, 4096); !bytes.Contains(seen, []byte("TASK_STATE_WORKING")); {
		n, err := stream.Read(buf)
		if seen = append(seen, buf[:n]...); err != nil {
			c.b.Fatalf("the stream ended early: %v", err)
		}
	}
	return id
}

// to is a message to a task.
func (c *client) to(taskID, text string) map[string]any {
	params, _ := c.message(text).(map[string]any)
	message, _ := params["message"].(map[string]any)
	message["taskId"] = taskID
	return params
}

// steer sends a message to a task, whose answer must be want, and returns how long
// that took.
func (c *client) steer(taskID, text, want string) time.Duration {
	c.b.Helper()
	began := time.Now()
	answer := c.whole("SendMessage", c.to(taskID, text))
	took := time.Since(began)
	var got struct{ Result struct{ Task taskText } }
	if err := json.Unmarshal(answer, &got); err != nil || got.Result.Task.text() != want {
		c.b.Fatalf("SendMessage: %v: want %q in %.2000s", err, want, answer)
	}
	return took
}

// tell sends a message to a task without waiting for its end.
func (c *client) tell(taskID, text string) time.Duration {
	c.b.Helper()
	params := c.to(taskID, text)
	params["configuration"] = map[string]any{"returnImmediately": true}
	began := time.Now()
	answer := c.whole("SendMessage", params)
	took := time.Since(began)
	if !strings.Contains(string(answer), `"turn":"steered"`) {
		c.b.Fatalf("SendMessage: %.2000s", answer)
	}
	for { // the next turn must not come before the end of this one
		if answer := c.whole("GetTask", map[string]any{"id": taskID}); strings.Contains(string(answer), "TASK_STATE_COMPLETED") {
			return took
		}
	}
}

// whole calls a method and returns the whole answer.
func (c *client) whole(method string, params any) []byte {
	c.b.Helper()
	body := c.call(method, params)
	defer body.Close()
	answer, err := io.ReadAll(body)
	if err != nil {
		c.b.Fatal(fmt.Errorf("%s: %w", method, err))
	}
	return answer
}
