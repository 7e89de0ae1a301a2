package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A webhook is what the suite receives push notifications with, on localhost.
type webhook struct {
	url string
	got chan notice // has room for all that a test makes
}

type notice struct {
	auth, token, id string
	body            any
}

func newWebhook(t *testing.T) *webhook {
	hook := &webhook{got: make(chan notice, 64)}
	ts := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		n := notice{auth: r.Header.Get("Authorization"), token: r.Header.Get("X-A2A-Notification-Token"), id: r.Header.Get("A2A-Notification-Id")}
		if err := json.Unmarshal(body, &n.body); err != nil || r.Method != http.MethodPost {
			t.Errorf("%s %s: %v", r.Method, body, err)
		}
		hook.got <- n
	}))
	t.Cleanup(ts.Close)
	hook.url = strings.Replace(ts.URL, "127.0.0.1", "localhost", 1) + "/hook"
	return hook
}

func (h *webhook) next(t *testing.T) notice {
	t.Helper()
	select {
	case n := <-h.got:
		return n
	case <-time.After(time.Minute):
		t.Fatal("nothing was posted")
		return notice{}
	}
}

// TestPush holds the requirements on push notifications of the 1.0 suite.
func TestPush(t *testing.T) {
	url := start(t, options{push: true})
	for _, r := range pushes() {
		t.Run(r.id, func(t *testing.T) {
			for _, binding := range []string{jsonrpc, httpJSON} {
				t.Run(binding, func(t *testing.T) { r.test(t, client{url: url, binding: binding}) })
			}
		})
	}
}

func pushes() []requirement {
	const target = "https://example.com/tck-push-webhook"
	created := func(t *testing.T, c client) (task string) {
		task = str(c.send(t, "tck-complete-task"), "id")
		r := c.call(t, "CreateTaskPushNotificationConfig", object{"taskId": task, "id": "push", "url": target})
		if r.failed || str(r.result, "id") != "push" || str(r.result, "url") != target || str(r.result, "taskId") != task {
			t.Fatalf("created %s", r.body)
		}
		return task
	}
	get := func(t *testing.T, c client, task, id string) reply {
		return c.call(t, "GetTaskPushNotificationConfig", object{"taskId": task, "id": id})
	}
	return []requirement{
		{"PUSH-GET-001", func(t *testing.T, c client) {
			if r := get(t, c, created(t, c), "push"); r.failed || str(r.result, "url") != target {
				t.Errorf("got %s", r.body)
			}
		}},
		{"PUSH-GET-002", func(t *testing.T, c client) {
			c.wantError(t, get(t, c, created(t, c), "nonexistent"), -32001, 404, "TASK_NOT_FOUND")
		}},
		{"PUSH-LIST-001", func(t *testing.T, c client) {
			r := c.call(t, "ListTaskPushNotificationConfigs", object{"taskId": created(t, c)})
			if configs, _ := at(r.result, "configs").([]any); len(configs) != 1 || str(configs[0], "id") != "push" {
				t.Errorf("list %s", r.body)
			}
			r = c.call(t, "ListTaskPushNotificationConfigs", object{"taskId": str(c.send(t, "tck-complete-task"), "id")})
			if r.failed || !strings.Contains(r.body, `"configs":[]`) {
				t.Errorf("list %s", r.body)
			}
		}},
		{"PUSH-DEL-001", func(t *testing.T, c client) {
			task := created(t, c)
			for range 2 {
				if r := c.call(t, "DeleteTaskPushNotificationConfig", object{"taskId": task, "id": "push"}); r.failed || r.result == nil {
					t.Errorf("deleted: %s", r.body)
				}
				c.wantError(t, get(t, c, task, "push"), -32001, 404, "TASK_NOT_FOUND")
			}
		}},
		{"PUSH-DELIVER-001", delivers},
	}
}

// delivers has a task post each change of its state.
func delivers(t *testing.T, c client) {
	hook := newWebhook(t)
	r := c.call(t, "SendMessage", object{"message": message("tck-input-required"), "configuration": object{"taskPushNotificationConfig": object{
		"id": "push", "url": hook.url, "authentication": object{"scheme": "Bearer", "credentials": "tck-test-token"}}}})
	task := str(r.result, "task", "id")
	c.send(t, "tck-complete-task", "taskId", task)
	first := hook.next(t)
	if m, _ := first.body.(object); len(m) != 1 || str(m, "statusUpdate", "taskId") != task || str(m, "statusUpdate", "status", "state") != "TASK_STATE_WORKING" {
		t.Errorf("payload %v", first.body)
	}
	for n := first; ; n = hook.next(t) {
		if n.id == "" || n.auth != "Bearer tck-test-token" {
			t.Errorf("notice %+v", n)
		}
		if str(n.body, "statusUpdate", "status", "state") == "TASK_STATE_COMPLETED" {
			return
		}
	}
}

// TestV0Push holds what the 0.3.x suite checks of push notifications.
func TestV0Push(t *testing.T) {
	c := v0{url: start(t, options{card: cardUnion, push: true})}
	for _, r := range v0Pushes() {
		t.Run(r.id, func(t *testing.T) { r.test(t, c) })
	}
}

func v0Pushes() []v0Requirement {
	// sent wants the task itself in each notification, in the shape of 0.3.
	sent := func(t *testing.T, hook *webhook, n notice, task string) {
		for ; ; n = hook.next(t) {
			if str(n.body, "kind") != "task" || str(n.body, "id") != task || n.token != "tok" {
				t.Fatalf("payload %+v", n)
			}
			if str(n.body, "status", "state") == "input-required" {
				return
			}
		}
	}
	config := func(hook *webhook) object {
		return object{"pushNotificationConfig": object{"url": hook.url, "token": "tok"}}
	}
	return []v0Requirement{
		{"test_get_push_notification_config", func(t *testing.T, c v0) {
			const url = "https://example.com/webhook"
			task := str(c.send(t), "id")
			set := c.call(t, "tasks/pushNotificationConfig/set", object{"taskId": task, "pushNotificationConfig": object{"url": url}}).result
			id := str(set, "pushNotificationConfig", "id")
			got := []any{set, at(c.call(t, "tasks/pushNotificationConfig/list", object{"id": task}).result, 0)}
			for _, params := range []object{{"id": task}, {"id": task, "pushNotificationConfigId": id}, {"id": task, "pushNotificationConfigId": "default"}} {
				got = append(got, c.call(t, "tasks/pushNotificationConfig/get", params).result)
			}
			for i, r := range got {
				if id == "" || str(r, "taskId") != task || str(r, "pushNotificationConfig", "id") != id || str(r, "pushNotificationConfig", "url") != url {
					t.Errorf("%d: %v", i, r)
				}
			}
		}},
		{"SEND-WITH-PUSH", func(t *testing.T, c v0) {
			hook := newWebhook(t)
			r := c.call(t, "message/send", object{"message": v0Message(), "configuration": config(hook)})
			sent(t, hook, hook.next(t), str(r.result, "id"))
		}},
		{"STREAM-WITH-PUSH", func(t *testing.T, c v0) {
			hook := newWebhook(t)
			events := c.stream(t, "message/stream", object{"message": v0Message(), "configuration": config(hook)})
			sent(t, hook, hook.next(t), str(events[0].result, "id"))
		}},
	}
}

// TestPushV0REST: a setting that comes by the HTTP+JSON binding of 0.3 is one of 0.3.
func TestPushV0REST(t *testing.T) {
	url, hook := start(t, options{card: cardUnion, push: true}), newWebhook(t)
	task := str(v0{url: url}.send(t), "id")
	path := url + "/v1/tasks/" + task + "/pushNotificationConfigs"
	status, _, body := do(t, "POST", path, `{"config":{"pushNotificationConfig":{"id":"c","url":"`+hook.url+`","token":"tok"}}}`)
	if status != 200 || !strings.Contains(body, hook.url) {
		t.Fatalf("%d %s", status, body)
	}
	v0{url: url}.send(t, "taskId", task, "messageId", "tck-complete-task")
	for n := hook.next(t); str(n.body, "status", "state") != "completed"; n = hook.next(t) {
		if str(n.body, "kind") != "task" || n.token != "tok" {
			t.Fatalf("payload %+v", n)
		}
	}
	if status, _, body = do(t, "GET", path, ""); status != 200 || !strings.Contains(body, hook.url) {
		t.Errorf("%d %s", status, body)
	}
	if status, _, body = do(t, "DELETE", path+"/c", ""); status != 204 || body != "" {
		t.Errorf("%d %s", status, body)
	}
	if status, _, body = do(t, "GET", path+"/c", ""); status != 404 {
		t.Errorf("%d %s", status, body)
	}
}
