package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// do makes a plain request and returns its answer.
func do(t testing.TB, method, url, body string, header ...string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(b)
}

const hi = `{"message":{"messageId":"tck-complete-task","role":"ROLE_USER","parts":[{"text":"hi"}]}}`

func rpc(method, params string) string {
	return `{"jsonrpc":"2.0","id":"x","method":"` + method + `","params":` + params + `}`
}

// TestBindings holds the requirements of one binding.
func TestBindings(t *testing.T) {
	for id, test := range bindings(start(t, options{})) {
		t.Run(id, test)
	}
}

func bindings(url string) map[string]func(*testing.T) {
	return map[string]func(*testing.T){
		"JSONRPC-FMT-001": func(t *testing.T) {
			_, _, body := do(t, "POST", url+"/", rpc("SendMessage", hi))
			if !strings.HasPrefix(body, `{"jsonrpc":"2.0","id":"x","result":{"task":`) {
				t.Error(body)
			}
		},
		"JSONRPC-FMT-002": func(t *testing.T) {
			_, header, _ := do(t, "POST", url+"/", rpc("SendMessage", hi))
			if got := header.Get("Content-Type"); got != "application/json" {
				t.Error(got)
			}
			_, _, body := do(t, "POST", url+"/", rpc("SendMessage", hi), "Content-Type", "text/plain")
			if !strings.Contains(body, `"code":-32005`) {
				t.Error(body)
			}
		},
		"JSONRPC-SVC-001": func(t *testing.T) {
			for _, method := range []string{"SendMessage", "SendStreamingMessage", "GetTask", "ListTasks", "CancelTask", "SubscribeToTask", "GetExtendedAgentCard",
				"CreateTaskPushNotificationConfig", "GetTaskPushNotificationConfig", "ListTaskPushNotificationConfigs", "DeleteTaskPushNotificationConfig"} {
				if _, _, body := do(t, "POST", url+"/", rpc(method, "{}")); strings.Contains(body, "-32601") {
					t.Errorf("%s: %s", method, body)
				}
			}
		},
		"JSONRPC-SVC-002":   func(t *testing.T) { serviceHeaders(t, url+"/", rpc("SendMessage", hi)) },
		"HTTP_JSON-SVC-002": func(t *testing.T) { serviceHeaders(t, url+"/message:send", hi) },
		"JSONRPC-ERR-001": func(t *testing.T) {
			_, _, body := do(t, "POST", url+"/", rpc("NonExistentMethod", "{}"))
			if !strings.Contains(body, `"error":{"code":-32601,"message":"`) {
				t.Error(body)
			}
		},
		"JSONRPC-ERR-002": func(t *testing.T) {
			_, _, body := do(t, "POST", url+"/", rpc("GetTask", `{"id":"nope"}`))
			if !strings.Contains(body, `"error":{"code":-32001,`) {
				t.Error(body)
			}
		},
		"JSONRPC-ERR-003": func(t *testing.T) {
			_, _, body := do(t, "POST", url+"/", rpc("GetTask", `{"id":"nope"}`))
			want := `"data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","domain":"a2a-protocol.org","metadata":{"taskId":"nope"},"reason":"TASK_NOT_FOUND"}]`
			if !strings.Contains(body, want) {
				t.Error(body)
			}
		},
		"JSONRPC-SSE-001": func(t *testing.T) {
			eventStream(t, url+"/", rpc("SendStreamingMessage", hi), `data: {"jsonrpc":"2.0","id":"x","result":{"task":`)
		},
		"HTTP_JSON-SSE-001": func(t *testing.T) { eventStream(t, url+"/message:stream", hi, `data: {"task":`) },
		"JSONRPC-SSE-002": func(t *testing.T) { // the codes themselves: TestV1, TestCapabilities
			_, header, body := do(t, "POST", url+"/", rpc("SubscribeToTask", `{"id":"nope"}`))
			if header.Get("Content-Type") != "application/json" || !strings.Contains(body, "-32001") {
				t.Errorf("%v %s", header, body)
			}
			if _, _, body = do(t, "POST", url+"/", "{'jsonrpc': '2.0', 'id': 1}", "Content-Type", "text/plain"); !strings.Contains(body, "-32005") { // what the suite sends is not JSON
				t.Error(body)
			}
		},
		"HTTP_JSON-URL-001": func(t *testing.T) { paths(t, url) },
		"HTTP_JSON-URL-002": func(t *testing.T) {
			for _, wrong := range []string{"GET /message:send", "DELETE /tasks", "PUT /tasks/t"} {
				method, path, _ := strings.Cut(wrong, " ")
				if status, header, _ := do(t, method, url+path, ""); status != 405 || header.Get("Allow") == "" {
					t.Errorf("%s: %d", wrong, status)
				}
			}
		},
		"HTTP_JSON-SVC-001": func(t *testing.T) {
			_, header, _ := do(t, "POST", url+"/message:send", hi)
			if header.Get("Content-Type") != "application/json" {
				t.Error(header)
			}
			_, header, _ = do(t, "POST", url+"/message:send", hi, "Accept", "application/a2a+json", "Content-Type", "application/a2a+json")
			if header.Get("Content-Type") != "application/a2a+json" {
				t.Error(header)
			}
		},
		"HTTP_JSON-QP-001": func(t *testing.T) {
			for _, q := range []string{"pageSize=1&historyLength=0&includeArtifacts=true", "page_size=1&history_length=0"} {
				if _, _, body := do(t, "GET", url+"/tasks?"+q, ""); !strings.Contains(body, `"pageSize":1,`) {
					t.Error(body)
				}
			}
		},
		"HTTP_JSON-ERR-001": func(t *testing.T) {
			status, _, body := do(t, "GET", url+"/tasks/nope", "")
			if status != 404 || !strings.HasPrefix(body, `{"error":{"code":404,"status":"NOT_FOUND","message":"`) {
				t.Errorf("%d %s", status, body)
			}
		},
		"HTTP_JSON-ERR-002": func(t *testing.T) {
			_, _, body := do(t, "GET", url+"/tasks/nope", "")
			want := `"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","domain":"a2a-protocol.org","metadata":{"taskId":"nope"},"reason":"TASK_NOT_FOUND"}]`
			if !strings.Contains(body, want) {
				t.Error(body)
			}
		},
		"HTTP_JSON-STATUS-001": func(t *testing.T) {
			if status, _, body := do(t, "POST", url+"/message:send", hi, "Content-Type", "text/plain"); status != 415 || !strings.Contains(body, "CONTENT_TYPE_NOT_SUPPORTED") {
				t.Errorf("%d %s", status, body)
			}
		},
		"CARD-DISC-001":   func(t *testing.T) { card(t, url) },
		"CARD-PROTO-001":  func(t *testing.T) { declares(t, url) },
		"CARD-PROTO-002":  func(t *testing.T) { declares(t, url) },
		"BIND-FIELD-001":  func(t *testing.T) { declares(t, url) },
		"CARD-STRUCT-001": func(t *testing.T) { strictCard(t, url) },
		"CARD-CACHE-001":  func(t *testing.T) { cardHeader(t, url, "Cache-Control", "max-age=") },
		"CARD-CACHE-002":  func(t *testing.T) { cardHeader(t, url, "ETag", `"`) },
		"CARD-CACHE-003":  func(t *testing.T) { cardHeader(t, url, "Last-Modified", "GMT") },
	}
}

func serviceHeaders(t *testing.T, url, body string) {
	for _, header := range [][]string{{"A2A-Version", "99.0"}, {"A2A-Version", "0.9"}} {
		if _, _, got := do(t, "POST", url, body, header...); !strings.Contains(got, "VERSION_NOT_SUPPORTED") {
			t.Errorf("%v: %s", header, got)
		}
	}
	if _, _, got := do(t, "POST", url, body, "A2A-Version", "1.0", "A2A-Extensions", "urn:a, urn:b"); !strings.Contains(got, "TASK_STATE_COMPLETED") {
		t.Error(got)
	}
}

func eventStream(t *testing.T, url, body, want string) {
	status, header, got := do(t, "POST", url, body)
	if status != 200 || header.Get("Content-Type") != "text/event-stream" || !regexp.MustCompile(`^id: \d+\.\d+\n`+regexp.QuoteMeta(want)).MatchString(got) {
		t.Errorf("%d %v %s", status, header, got)
	}
}

func paths(t *testing.T, url string) {
	task := str(client{url: url, binding: httpJSON}.send(t, "tck-input-required"), "id")
	for _, r := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/tasks", 200}, {"GET", "/tasks/" + task, 200}, {"POST", "/tasks/" + task + ":cancel", 200},
		{"GET", "/tasks/" + task + ":subscribe", 400}, {"POST", "/tasks/" + task + ":subscribe", 400}, {"GET", "/extendedAgentCard", 400},
		{"POST", "/tasks/" + task + "/pushNotificationConfigs", 400}, {"GET", "/tasks/" + task + "/pushNotificationConfigs", 400},
		{"GET", "/tasks/" + task + "/pushNotificationConfigs/c", 400}, {"DELETE", "/tasks/" + task + "/pushNotificationConfigs/c", 400},
		{"GET", "/tasks/" + strings.ReplaceAll(task, "-", "%2D"), 200},
	} {
		if status, _, body := do(t, r.method, url+r.path, ""); status != r.status || !json.Valid([]byte(body)) {
			t.Errorf("%s %s: %d %s", r.method, r.path, status, body)
		}
	}
}

func card(t *testing.T, url string) any {
	t.Helper()
	status, header, body := do(t, "GET", url+"/.well-known/agent-card.json", "")
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil || status != 200 || header.Get("Content-Type") != "application/json" {
		t.Fatalf("%d %v %s", status, err, body)
	}
	return v
}

func declares(t *testing.T, url string) {
	var got []string
	interfaces, _ := at(card(t, url), "supportedInterfaces").([]any)
	for _, i := range interfaces {
		got = append(got, str(i, "protocolBinding")+" "+str(i, "protocolVersion")+" "+strings.TrimSuffix(strings.TrimPrefix(str(i, "url"), url), "/"))
	}
	if want := "JSONRPC 1.0 ,HTTP+JSON 1.0 ,JSONRPC 0.3 "; strings.Join(got, ",") != want {
		t.Errorf("interfaces %q", got)
	}
}

// strictCard knows the members of the 1.0 card from the SDK's type.
func strictCard(t *testing.T, url string) {
	_, _, body := do(t, "GET", url+"/.well-known/agent-card.json", "")
	dec := json.NewDecoder(bytes.NewReader([]byte(body)))
	dec.DisallowUnknownFields()
	var got a2a.AgentCard
	if err := dec.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if got.Name == "" || got.Description == "" || got.Version == "" || len(got.SupportedInterfaces) == 0 || len(got.Skills) == 0 ||
		len(got.DefaultInputModes) == 0 || len(got.DefaultOutputModes) == 0 {
		t.Error(body)
	}
}

func cardHeader(t *testing.T, url, name, want string) {
	_, header, _ := do(t, "GET", url+"/.well-known/agent-card.json", "")
	if !strings.Contains(header.Get(name), want) {
		t.Errorf("%s is %q", name, header.Get(name))
	}
	if status, _, body := do(t, "HEAD", url+"/.well-known/agent-card.json", ""); status != 200 || body != "" {
		t.Errorf("HEAD: %d", status)
	}
}

// TestCapabilities holds what depends on how the suite's system is started.
func TestCapabilities(t *testing.T) {
	for _, r := range capabilities() {
		for _, binding := range []string{jsonrpc, httpJSON} {
			t.Run(r.id+"/"+binding, func(t *testing.T) { r.test(t, client{binding: binding}) })
		}
	}
}

// capabilities are requirements whose tests start a system of their own.
func capabilities() []requirement {
	return []requirement{
		{"CORE-CAP-004", func(t *testing.T, c client) {
			const uri = "urn:a2a:tck:required-extension"
			c.url = start(t, options{extension: uri})
			hi := object{"message": message("tck-complete-task")}
			refused := c.call(t, "SendMessage", hi)
			c.wantError(t, refused, -32008, 400, "EXTENSION_SUPPORT_REQUIRED")
			if got := str(refused.info, "metadata", "extension"); got != uri {
				t.Errorf("the error names %q", got)
			}
			v0{c.url}.call(t, "message/send", object{"message": v0Message()}).refused(t, -32008)
			_, r := c.stream(t, "SendStreamingMessage", hi)
			c.wantError(t, r, -32008, 400, "EXTENSION_SUPPORT_REQUIRED")
			for _, name := range []string{"A2a-Extensions", "X-A2a-Extensions"} {
				c.header = http.Header{name: {"urn:other, " + uri}}
				c.wantState(t, c.send(t, "tck-complete-task"), "COMPLETED")
			}
			if at(card(t, c.url), "capabilities", "extensions", 0, "required") != true {
				t.Error("the card does not say so")
			}
		}},
		{"CORE-CAP-002", func(t *testing.T, c client) {
			c.url = start(t, options{mute: true})
			task := str(c.send(t, "tck-input-required"), "id")
			_, r := c.stream(t, "SendStreamingMessage", object{"message": message("tck-cap-stream")})
			c.wantError(t, r, -32004, 400, "UNSUPPORTED_OPERATION")
			_, r = c.stream(t, "SubscribeToTask", object{"id": task})
			c.wantError(t, r, -32004, 400, "UNSUPPORTED_OPERATION")
			if got := kinds(t, v0{c.url}.stream(t, "message/stream", object{"message": v0Message()})); got != "-32004" {
				t.Errorf("0.3: %s", got)
			}
		}},
	}
}

// TestBindingsAreEquivalent: the same calls have the same answers, but for ids
// and times.
func TestBindingsAreEquivalent(t *testing.T) {
	url := start(t, options{})
	odd := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\dT[0-9:.]+Z|tck-[a-z-]+-[0-9a-f]+`)
	plain := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return odd.ReplaceAllString(string(b), "*")
	}
	for _, prefix := range []string{"tck-complete-task", "tck-artifact-file", "tck-input-required", "tck-reject-task"} {
		a, b := client{url: url, binding: jsonrpc}, client{url: url, binding: httpJSON}
		if x, y := plain(a.send(t, prefix)), plain(b.send(t, prefix)); x != y {
			t.Errorf("%s:\n%s\n%s", prefix, x, y)
		}
	}
}
