package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// binary is the program under test, built once by TestMain.
var binary string

func TestMain(m *testing.M) {
	if path := os.Getenv(terminalEnv); path != "" {
		takeTerminal(path)
	}
	if program := os.Getenv(fencedEnv); program != "" {
		fenced(program)
	}
	if file := os.Getenv(hidingEnv); file != "" {
		hide(file)
	}
	if file := os.Getenv(leaseEnv); file != "" {
		takeLease(file)
	}
	if url := os.Getenv(answersEnv); url != "" {
		answerItself(url)
	}
	if program := os.Getenv(twoUsersEnv); program != "" {
		asRuntimeUser(program)
	}
	os.Exit(progtest.Main(func(built string) int {
		binary = built
		return m.Run()
	}))
}

// A program is one running runtime with a scripted model behind it.
type program struct {
	*progtest.Program
	Model *modeltest.Model
	t     *testing.T
}

// start runs the program on the model that obeys keywords. Extra settings are
// NAME=value.
func start(t *testing.T, extra ...string) *program {
	t.Helper()
	return startAs(t, binary, extra...)
}

// startAs is start by way of another binary.
func startAs(t *testing.T, binary string, extra ...string) *program {
	t.Helper()
	return startOn(t, binary, modeltest.Start(t, fakemodel.Keywords), extra...)
}

// startOn is startAs with another model.
func startOn(t *testing.T, binary string, model *modeltest.Model, extra ...string) *program {
	t.Helper()
	settings := append([]string{
		"OPENAI_BASE_URL=" + model.BaseURL(), "OPENAI_API_KEY=key-of-the-e2e-suite", "RUNTIME_LOG=debug",
	}, extra...)
	return &program{Program: progtest.Start(t, binary, settings...), Model: model, t: t}
}

// An object is decoded JSON, read with at.
type object = map[string]any

// at follows keys and indexes into decoded JSON; nil where there is nothing.
func at(v any, path ...any) any {
	for _, step := range path {
		switch key := step.(type) {
		case string:
			m, _ := v.(object)
			v = m[key]
		case int:
			list, _ := v.([]any)
			if key >= len(list) {
				return nil
			}
			v = list[key]
		}
	}
	return v
}

// call makes a JSON-RPC call and returns the whole answer.
func (p *program) call(method string, params any) object {
	p.t.Helper()
	answer, err := p.tryCall(p.t.Context(), method, params)
	if err != nil {
		p.t.Fatalf("%s: %v", method, err)
	}
	return answer
}

func (p *program) tryCall(ctx context.Context, method string, params any) (object, error) {
	res, err := p.post(ctx, method, params)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	var answer object
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("HTTP %d, %w: %s", res.StatusCode, err, body)
	}
	return answer, nil
}

func (p *program) post(ctx context.Context, method string, params any) (*http.Response, error) {
	body, err := json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL+"/", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	return http.DefaultClient.Do(req)
}

// message is a 1.0 message of one text part, in a context if that is not empty.
func message(id, contextID, text string) object {
	m := object{"messageId": id, "role": "ROLE_USER", "parts": []object{{"text": text}}}
	if contextID != "" {
		m["contextId"] = contextID
	}
	return m
}

// send sends a blocking 1.0 message and returns the task.
func (p *program) send(id, contextID, text string) object {
	p.t.Helper()
	return p.task(p.call("SendMessage", object{"message": message(id, contextID, text)}))
}

// begin sends a 1.0 message without waiting and returns the task as accepted.
func (p *program) begin(id, contextID, text string) object {
	p.t.Helper()
	return p.task(p.call("SendMessage", object{
		"message": message(id, contextID, text), "configuration": object{"returnImmediately": true},
	}))
}

func (p *program) task(answer object) object {
	p.t.Helper()
	task, ok := at(answer, "result", "task").(object)
	if !ok {
		p.t.Fatalf("no task in the answer: %v", answer)
	}
	return task
}

func (p *program) get(taskID any) object {
	p.t.Helper()
	task, ok := p.call("GetTask", object{"id": taskID})["result"].(object)
	if !ok {
		p.t.Fatalf("no task %v", taskID)
	}
	return task
}

// ended waits for a task's end and returns it.
func (p *program) ended(taskID any) object {
	p.t.Helper()
	var task object
	progtest.WaitFor(p.t, fmt.Sprintf("task %v to end", taskID), func() bool {
		task = p.get(taskID)
		switch state(task) {
		case "TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED", "TASK_STATE_REJECTED":
			return true
		}
		return false
	})
	return task
}

func state(task object) string {
	s, _ := at(task, "status", "state").(string)
	return s
}

// text joins the texts of a task's artifacts.
func text(task object) string {
	var all strings.Builder
	artifacts, _ := task["artifacts"].([]any)
	for _, artifact := range artifacts {
		if name, _ := at(artifact, "name").(string); name == "diff" {
			continue
		}
		parts, _ := at(artifact, "parts").([]any)
		for _, part := range parts {
			s, _ := at(part, "text").(string)
			all.WriteString(s)
		}
	}
	return all.String()
}

// A stream reads the events of an SSE answer.
type stream struct {
	res   *http.Response
	lines *bufio.Scanner
}

func (p *program) stream(ctx context.Context, method string, params any) *stream {
	p.t.Helper()
	res, err := p.post(ctx, method, params)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { res.Body.Close() })
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 16<<20)
	return &stream{res: res, lines: lines}
}

// next returns the next event's result, or nil at the end of the stream.
func (s *stream) next() object {
	for s.lines.Scan() {
		data, ok := strings.CutPrefix(s.lines.Text(), "data:")
		if !ok {
			continue
		}
		var event object
		if json.Unmarshal([]byte(data), &event) == nil {
			if result, ok := event["result"].(object); ok {
				return result
			}
			return event
		}
	}
	return nil
}

// until reads on to the first progress of a kind.
func (s *stream) until(kind string) {
	for event := s.next(); event != nil; event = s.next() {
		if at(event, "statusUpdate", "status", "message", "parts", 0, "data", "type") == kind {
			return
		}
	}
}
