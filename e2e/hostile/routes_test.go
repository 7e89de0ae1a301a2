package hostile

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/go-chi/chi/v5"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/server"
	"github.com/Molecule-AI/molecule-codex-runtime/server/guard"
)

// A who is whom a route is for.
type who int

const (
	everyone  who = iota
	callers       // of A2A
	readers       // of what an operator looks at
	thePeer       // the platform, by its inbound secret
	members       // the platform, by the workspace's token
	visitors      // of the console
	selfmade      // whoever gives the token in a form
	fileOwner     // whoever has the URL of a file
)

// A route is one that the program serves. In its path, and in its body, TASK is the
// conversation with the words in it, and MARK what is looked for later.
type route struct {
	pattern string // as the router has it
	who     who
	path    string // "" is the pattern's
	media   string // "" is JSON
	body    string
	header  string
	head    bool // its answer has no end
}

const (
	sendV1   = `{"message":{"messageId":"MARK","role":"ROLE_USER","parts":[{"text":"say MARK"}]}}`
	sendV0   = `{"message":{"messageId":"MARK","role":"ROLE_USER","content":[{"text":"say MARK"}]}}`
	callV1   = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":` + sendV1 + `}`
	callV0   = `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"messageId":"MARK","role":"user","parts":[{"kind":"text","text":"say MARK"}]}}}`
	pushV1   = `{"id":"MARK","url":"https://receiver.example/MARK"}`
	pushV0   = `{"config":{"pushNotificationConfig":{"id":"MARK","url":"https://receiver.example/MARK"}}}`
	formPart = "--b\r\nContent-Disposition: form-data; name=\"files\"; filename=\"MARK.txt\"\r\n\r\nMARK\r\n--b--\r\n"
)

// table has every route. A route of the program that is not in it fails TestRoutes.
func table() []route {
	rows := []route{
		{pattern: "GET /healthz"}, {pattern: "HEAD /healthz"}, {pattern: "GET /readyz"}, {pattern: "HEAD /readyz"},
		{pattern: "GET /metrics", who: readers},
		{pattern: "POST /", who: callers, body: callV1}, {pattern: "POST /a2a", who: callers, body: callV0},
		{pattern: "POST /message:send", who: callers, body: sendV1},
		{pattern: "POST /message:stream", who: callers, body: sendV1},
		{pattern: "POST /v1/message:send", who: callers, body: sendV0},
		{pattern: "POST /v1/message:stream", who: callers, body: sendV0},
		{pattern: "GET /tasks", who: callers, path: "/tasks?includeArtifacts=true&historyLength=9"},
		{pattern: "GET /v1/tasks", who: callers},
		{pattern: "GET /extendedAgentCard", who: callers}, {pattern: "GET /v1/card", who: callers},
		{pattern: "GET /agent/authenticatedExtendedCard", who: callers},
		{pattern: "POST /internal/chat/uploads/ingest", who: thePeer, media: "multipart/form-data; boundary=b", body: formPart},
		{pattern: "GET /internal/file/read", who: thePeer, path: "/internal/file/read?path=WORK/seen.txt"},
		{pattern: "GET /internal/a2a-auth-status", who: thePeer},
		{pattern: "GET /transcript", who: members},
		{pattern: "GET /console"}, {pattern: "GET /console/static/{name}", path: "/console/static/app.css"},
		{pattern: "POST /console/login", who: selfmade, media: "application/x-www-form-urlencoded", body: "token=MARK"},
		{pattern: "POST /console/logout", media: "application/x-www-form-urlencoded"},
		{pattern: "POST /console/api/a2a", who: visitors, body: callV1, header: "X-Console: 1"},
		{pattern: "GET /console/api/state", who: visitors}, {pattern: "GET /console/api/events", who: visitors, head: true},
		{pattern: "POST /console/api/doctor", who: visitors, header: "X-Console: 1"},
		{pattern: "POST /console/api/machines/", who: visitors, header: "X-Console: 1", path: "/console/api/machines/m1/drain"},
	}
	for _, path := range []string{"/", "/.well-known/agent-card.json", "/.well-known/agent.json", "/agent-card"} {
		rows = append(rows, route{pattern: "GET " + path}, route{pattern: "HEAD " + path})
	}
	for _, path := range []string{"/files/{task}/{token}", "/files/{task}/{token}/{name}"} {
		rows = append(rows, route{pattern: "GET " + path, who: fileOwner}, route{pattern: "HEAD " + path, who: fileOwner})
	}
	for version, push := range map[string]string{"": pushV1, "/v1": pushV0} {
		task := version + "/tasks/{task}"
		rows = append(rows,
			route{pattern: "GET " + task, who: callers}, route{pattern: "POST " + task + ":cancel", who: callers, body: `{"metadata":{"why":"MARK"}}`},
			route{pattern: "GET " + task + ":subscribe", who: callers}, route{pattern: "POST " + task + ":subscribe", who: callers},
			route{pattern: "POST " + task + "/pushNotificationConfigs", who: callers, body: push},
			route{pattern: "GET " + task + "/pushNotificationConfigs", who: callers},
			route{pattern: "GET " + task + "/pushNotificationConfigs/{config}", who: callers},
			route{pattern: "DELETE " + task + "/pushNotificationConfigs/{config}", who: callers},
		)
	}
	return rows
}

func (r route) method() string { method, _, _ := strings.Cut(r.pattern, " "); return method }

// call is the route's request, with its own method, with mark in it.
func (r route) call(x *world, mark string) call {
	_, path, _ := strings.Cut(r.pattern, " ")
	if r.path != "" {
		path = r.path
	}
	fill := strings.NewReplacer("{task}", x.task, "{config}", "c", "{token}", strings.Repeat("A", 43), "{name}", "a.txt", "MARK", mark, "WORK", x.Work)
	c := call{method: r.method(), path: fill.Replace(path), body: fill.Replace(r.body), head: r.head}
	media := r.media
	if media == "" {
		media = "application/json"
	}
	if c.body != "" {
		c.header = append(c.header, "Content-Type: "+media)
	}
	if r.header != "" {
		c.header = append(c.header, r.header)
	}
	return c
}

// noHandler is for a server whose routes are looked at and not called.
type noHandler struct{ guard.Handler }

// TestRoutes sees that the table has every route of the program, and no other.
func TestRoutes(t *testing.T) {
	s, err := server.New(server.Config{
		Handler: noHandler{}, Card: func(string) *a2a.AgentCard { return &a2a.AgentCard{} }, Platform: &server.Platform{},
		Console: func(http.Handler) http.Handler { return http.NotFoundHandler() },
	})
	if err != nil {
		t.Fatal(err)
	}
	served := consoleRoutes(t)
	err = chi.Walk(s.Handler().(chi.Routes), func(method, path string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if !strings.HasPrefix(path, "/console") {
			served = append(served, method+" "+path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var tried []string
	for _, row := range table() {
		tried = append(tried, row.pattern)
	}
	for _, pattern := range served {
		if !slices.Contains(tried, pattern) {
			t.Errorf("%s is served, and nothing here attacks it: give it a row in table()", pattern)
		}
	}
	for _, pattern := range tried {
		if !slices.Contains(served, pattern) {
			t.Errorf("%s is no route any more: take its row out of table()", pattern)
		}
	}
}

// consoleRoutes are those of the console, whose mux cannot be asked for them.
func consoleRoutes(t *testing.T) (served []string) {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(codextest.Root(t), "console", "console.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range regexp.MustCompile(`mux\.Handle(?:Func)?\("([^"]+)"`).FindAllStringSubmatch(string(source), -1) {
		served = append(served, match[1])
	}
	if len(served) == 0 {
		t.Fatal("no routes of the console are found in console.go")
	}
	return served
}
