package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// An object is decoded JSON, read with at.
type object = map[string]any

// at follows keys and indexes into decoded JSON; nil where there is nothing.
func at(v any, path ...string) any {
	for _, key := range path {
		m, _ := v.(object)
		v = m[key]
	}
	return v
}

func str(v any, path ...string) string {
	s, _ := at(v, path...).(string)
	return s
}

// A rpcError is an answer that is an error.
type rpcError struct {
	Code    int
	Message string
}

func (e *rpcError) Error() string { return fmt.Sprintf("%d: %s", e.Code, e.Message) }

// passing reports whether a call may be made again: the program was away, is
// about to stop, or has no room.
func passing(err error) bool {
	refused, ok := errors.AsType[*rpcError](err)
	return !ok || refused.Code == -32000
}

// A client makes calls in both versions of the protocol.
type client struct {
	url   func() string // where the program listens now
	later func(words string)
	http  *http.Client
}

func (c *client) post(ctx context.Context, method string, params any, after string) (*http.Response, error) {
	body, err := json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url()+"/", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if after != "" {
		req.Header.Set("Last-Event-ID", after)
	}
	return c.http.Do(req)
}

// call returns the result of a call.
func (c *client) call(ctx context.Context, method string, params any) (object, error) {
	res, err := c.post(ctx, method, params, "")
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	answer, err := result(body)
	if refused, ok := errors.AsType[*rpcError](err); ok && passing(err) {
		c.later(refused.Message)
	}
	return answer, err
}

func result(body []byte) (object, error) {
	var answer struct {
		Result object
		Error  *rpcError
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("%w: %.200q", err, body)
	}
	if answer.Error != nil {
		return nil, answer.Error
	}
	if task, ok := answer.Result["task"].(object); ok { // 1.0 wraps what is sent
		return task, nil
	}
	return answer.Result, nil
}

// insist calls until there is an answer that another try would not change.
func (c *client) insist(ctx context.Context, method string, params any) (object, error) {
	for {
		answer, err := c.call(ctx, method, params)
		if err == nil || !passing(err) || ctx.Err() != nil {
			return answer, err
		}
		pause(ctx, 15*time.Millisecond)
	}
}

func (c *client) get(ctx context.Context, task string) (object, error) {
	return c.insist(ctx, "GetTask", object{"id": task})
}

// sending returns how a message is sent.
func sending(m *Message, d door, file, follow string, retry bool) (method string, params object) {
	msg := object{"messageId": m.ID, "contextId": m.Context}
	if follow != "" {
		msg["taskId"] = follow
	}
	if retry {
		msg["metadata"] = object{"retry": true}
	}
	params = object{"message": msg}
	if d.old() {
		msg["kind"], msg["role"], msg["parts"] = "message", "user", []object{{"kind": "text", "text": m.Text(file)}}
	} else {
		msg["role"], msg["parts"] = "ROLE_USER", []object{{"text": m.Text(file)}}
	}
	switch d {
	case stream1:
		return "SendStreamingMessage", params
	case stream0:
		return "message/stream", params
	case begin1:
		params["configuration"] = object{"returnImmediately": true}
	case begin0, blocking0:
		params["configuration"] = object{"blocking": d == blocking0}
	}
	if d.old() {
		return "message/send", params
	}
	return "SendMessage", params
}

// ending reads a task of either version. It is false while the task lives.
func ending(task object) (Ending, bool) {
	end := Ending{State: plainState(str(task, "status", "state")), Kind: str(task, "metadata", "failure", "kind"), RetryOf: str(task, "metadata", "retryOf")}
	end.Interrupted, _ = at(task, "metadata", "interrupted").(bool)
	if end.Kind != "" || end.Interrupted {
		end.Why = partsText(at(task, "status", "message"))
	}
	attempt, _ := at(task, "metadata", "attempt").(float64)
	end.Attempt = int(attempt)
	reply := str(task, "metadata", "reply")
	for id, text := range texts(task) {
		if id == reply {
			end.Text = text
		}
	}
	switch end.State {
	case "completed", "failed", "canceled", "rejected":
		return end, true
	}
	return end, false
}

func plainState(state string) string {
	return strings.ToLower(strings.TrimPrefix(state, "TASK_STATE_"))
}

// texts returns the texts of a task's messages by their ids.
func texts(task object) map[string]string {
	found := map[string]string{}
	artifacts, _ := task["artifacts"].([]any)
	for _, artifact := range artifacts {
		found[str(artifact, "artifactId")] = partsText(artifact)
	}
	return found
}

func partsText(artifact any) string {
	var all strings.Builder
	parts, _ := at(artifact, "parts").([]any)
	for _, part := range parts {
		all.WriteString(str(part, "text"))
	}
	return all.String()
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
