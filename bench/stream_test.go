package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// stream sends a message whose answer must be want, and returns the time to the
// first text and to the end of its stream.
func (c *client) stream(text, want string) (first, whole time.Duration) {
	c.b.Helper()
	var events [][]byte
	began := time.Now()
	body := c.call("SendStreamingMessage", c.message(text))
	defer body.Close()
	lines := bufio.NewReader(body)
	for whole == 0 {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			c.b.Fatalf("the stream ended early: %v", err)
		}
		isText := bytes.Contains(line, []byte(`"artifactUpdate"`))
		if first == 0 && isText {
			first = time.Since(began)
		}
		if bytes.Contains(line, []byte("TASK_STATE_COMPLETED")) {
			whole = time.Since(began)
		}
		if isText {
			events = append(events, line)
		}
	}
	_, _ = io.Copy(io.Discard, lines)
	if got, err := streamed(events); err != nil || got != want {
		c.b.Fatalf("SendStreamingMessage: %v: want %.100q (%d bytes) and not %.2000q (%d)", err, want, len(want), got, len(got))
	}
	return first, whole
}

// streamed puts the text together that the artifact events of a stream carry.
func streamed(events [][]byte) (string, error) {
	var order []string
	texts := map[string]*strings.Builder{}
	for _, event := range events {
		var e struct {
			Result struct {
				ArtifactUpdate struct {
					Append   bool
					Artifact artifactText
				}
			}
		}
		if err := json.Unmarshal(bytes.TrimPrefix(event, []byte("data: ")), &e); err != nil {
			return "", fmt.Errorf("event %.200s: %w", event, err)
		}
		update := e.Result.ArtifactUpdate
		id := update.Artifact.ID
		if texts[id] == nil {
			order = append(order, id)
		}
		if texts[id] == nil || !update.Append {
			texts[id] = &strings.Builder{}
		}
		texts[id].WriteString(taskText{Artifacts: []artifactText{update.Artifact}}.text())
	}
	var all strings.Builder
	for _, id := range order {
		all.WriteString(texts[id].String())
	}
	return all.String(), nil
}

// begin sends a message and returns the stream after the task, and its id.
func (c *client) begin(text string) (io.Reader, string) {
	r, _, id := c.task("SendStreamingMessage", c.message(text))
	return r, id
}

// join subscribes to a task and returns the stream after it.
func (c *client) join(id string) (io.Reader, io.Closer) {
	r, body, _ := c.task("SubscribeToTask", map[string]any{"id": id})
	return r, body
}

// task opens a stream and reads its first event.
func (c *client) task(method string, params any) (io.Reader, io.Closer, string) {
	c.b.Helper()
	body := c.call(method, params)
	c.b.Cleanup(func() { _ = body.Close() })
	r := bufio.NewReaderSize(body, 4096)
	line, err := r.ReadString('\n')
	for err == nil && !strings.HasPrefix(line, "data: ") { // its id
		line, err = r.ReadString('\n')
	}
	if err != nil {
		c.b.Fatal(err)
	}
	var event struct {
		Result struct{ Task struct{ ID string } }
	}
	_ = json.Unmarshal([]byte(strings.TrimPrefix(line, "data: ")), &event)
	if event.Result.Task.ID == "" {
		c.b.Fatalf("%s begins with %s", method, line)
	}
	return r, body, event.Result.Task.ID
}
