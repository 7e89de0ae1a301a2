package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// BenchmarkQuestion is what the runtime itself costs a question: it owns a codex
// that asks for leave and completes with the answer. "out" is from before codex
// writes its request until a client has read the question from its stream, and
// holds the commit that makes it survive a power cut; "in" is from before the
// client writes its answer until codex has read it, and holds two.
func BenchmarkQuestion(b *testing.B) {
	const turns, warm = 500, 20
	file := filepath.Join(codextest.Dir(b, "stamps"), "stamps")
	p := progtest.Start(b, program, append(fakeSettings(b, "turn ask item/commandExecution/requestApproval"), stampsEnv+"="+file)...)
	ours := newClient(b, p.URL, "bench", 0)
	ours.checked()
	type moments struct{ asked, answered int64 }
	var seen []moments
	for range warm + turns {
		asked, task := ours.asked("may you?")
		answered := clock()
		ours.answer(task, map[string]any{"decision": "accept"})
		seen = append(seen, moments{asked, answered})
	}
	took := series{}
	for i, codex := range stamps(b, file, warm+turns)[warm:] {
		at := seen[warm+i]
		took.add("out", time.Duration(at.asked-codex.asked))
		took.add("in", time.Duration(codex.answered-at.answered))
	}
	took.report(b, "out", "in")
}

// asked sends a message and reads its stream up to the question. It returns when
// that was read, and the task.
func (c *client) asked(text string) (at int64, task string) {
	c.b.Helper()
	stream, body, id := c.task("SendStreamingMessage", c.message(text))
	defer body.Close()
	lines := bufio.NewReader(stream)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			c.b.Fatalf("the stream ended without a question: %v", err)
		}
		if bytes.Contains(line, []byte("TASK_STATE_INPUT_REQUIRED")) {
			at = clock()
			_, _ = io.Copy(io.Discard, lines)
			return at, id
		}
	}
}

// answer answers the question of a task and waits for its end.
func (c *client) answer(task string, data any) {
	c.b.Helper()
	ended := c.whole("SendMessage", map[string]any{"message": map[string]any{
		"messageId": fmt.Sprintf("m%d", lastMessage.Add(1)), "role": "ROLE_USER", "taskId": task,
		"parts": []any{map[string]any{"data": data}},
	}})
	if !bytes.Contains(ended, []byte("TASK_STATE_COMPLETED")) {
		c.b.Fatalf("the answer: %.2000s", ended)
	}
}
