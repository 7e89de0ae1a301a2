package server

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/go-chi/chi/v5"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
)

// What the answers of the table must not hold, unless their caller may read it.
const (
	confidential = "what the user has said"
	detail       = "what the operator has set"
)

// A doorRow is a route, and what it does for callers that no list has the name of.
type doorRow struct {
	route   string
	anyName bool // answers under any name
	asks    bool // answers under any name where a credential is asked of callers
	link    bool // a link may lead to it
	token   bool // asks for a token of ours, wherever there is one
	own     bool // asks for a credential in any case, and not for ours
}

var doorRows = []doorRow{
	{route: "GET /healthz", anyName: true}, {route: "HEAD /healthz", anyName: true},
	{route: "GET /readyz", anyName: true}, {route: "HEAD /readyz", anyName: true},
	{route: "GET /metrics", token: true},
	{route: "GET /machines", token: true}, {route: "POST /machines/{name}/drain", token: true}, {route: "POST /machines/{name}/undrain", token: true},
	{route: "GET /", anyName: true, link: true}, {route: "HEAD /", anyName: true},
	{route: "GET /.well-known/agent-card.json", anyName: true, link: true}, {route: "HEAD /.well-known/agent-card.json", anyName: true},
	{route: "GET /.well-known/agent.json", anyName: true, link: true}, {route: "HEAD /.well-known/agent.json", anyName: true},
	{route: "GET /agent-card", anyName: true, link: true}, {route: "HEAD /agent-card", anyName: true},
	{route: "GET /internal/file/read", anyName: true, own: true}, {route: "GET /internal/a2a-auth-status", anyName: true, own: true},
	{route: "POST /internal/chat/uploads/ingest", anyName: true, own: true},
	{route: "GET /transcript", anyName: true, own: true},
	{route: "GET /console", anyName: true, link: true, own: true}, {route: "GET /console/*", anyName: true, own: true}, {route: "POST /console/*", anyName: true, own: true},
	{route: "GET /files/{task}/{token}", anyName: true, link: true}, {route: "HEAD /files/{task}/{token}", anyName: true},
	{route: "GET /files/{task}/{token}/{name}", anyName: true, link: true}, {route: "HEAD /files/{task}/{token}/{name}", anyName: true},
	{route: "POST /", anyName: true, token: true}, {route: "POST /a2a", anyName: true, token: true},
	{route: "POST /message:send", anyName: true, token: true}, {route: "POST /message:stream", anyName: true, token: true},
	{route: "GET /tasks", asks: true, token: true}, {route: "GET /tasks/{task}", asks: true, token: true}, {route: "POST /tasks/{task}:cancel", anyName: true, token: true},
	{route: "GET /tasks/{task}:subscribe", asks: true, token: true}, {route: "POST /tasks/{task}:subscribe", anyName: true, token: true},
	{route: "GET /tasks/{task}/pushNotificationConfigs", asks: true, token: true}, {route: "POST /tasks/{task}/pushNotificationConfigs", anyName: true, token: true},
	{route: "GET /tasks/{task}/pushNotificationConfigs/{config}", asks: true, token: true}, {route: "DELETE /tasks/{task}/pushNotificationConfigs/{config}", asks: true, token: true},
	{route: "GET /extendedAgentCard", asks: true, token: true},
	{route: "POST /v1/message:send", anyName: true, token: true}, {route: "POST /v1/message:stream", anyName: true, token: true},
	{route: "GET /v1/tasks", asks: true, token: true}, {route: "GET /v1/tasks/{task}", asks: true, token: true}, {route: "POST /v1/tasks/{task}:cancel", anyName: true, token: true},
	{route: "GET /v1/tasks/{task}:subscribe", asks: true, token: true}, {route: "POST /v1/tasks/{task}:subscribe", anyName: true, token: true},
	{route: "GET /v1/tasks/{task}/pushNotificationConfigs", asks: true, token: true}, {route: "POST /v1/tasks/{task}/pushNotificationConfigs", anyName: true, token: true},
	{route: "GET /v1/tasks/{task}/pushNotificationConfigs/{config}", asks: true, token: true}, {route: "DELETE /v1/tasks/{task}/pushNotificationConfigs/{config}", asks: true, token: true},
	{route: "GET /v1/card", asks: true, token: true}, {route: "GET /agent/authenticatedExtendedCard", asks: true, token: true},
}

// confiding tells a secret with each task.
func confiding() *fakeHandler {
	task := func() *a2a.Task {
		return &a2a.Task{ID: "T1", ContextID: "C1", Status: a2a.TaskStatus{State: a2a.TaskStateWorking},
			History: []*a2a.Message{a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(confidential))}}
	}
	return &fakeHandler{get: func(context.Context, *a2a.GetTaskRequest) (*a2a.Task, error) { return task(), nil },
		list: func() []*a2a.Task { return []*a2a.Task{task()} }}
}

// oneFile has a file under any token.
type oneFile struct{ path string }

func (f oneFile) Open(context.Context, string, string) (*os.File, fs.FileInfo, error) {
	file, err := os.Open(f.path)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	return file, info, err
}

const (
	foreignName = "evil.example:8000"
	ownName     = "ws-own:8000"
	rightToken  = "a-token-of-the-table"
)

// A doorCall is one way to come to a door.
type doorCall struct{ host, origin, site, credential string }

var (
	doorHosts   = []string{"localhost:8000", ownName, "10.1.2.3:8000", "[2001:db8::7]:8000", foreignName, "localhost.evil.example"}
	doorOrigins = []string{"", "same", "http://evil.example", "null"}
	doorSites   = []string{"", "same-origin", "none", "same-site", "cross-site", "cross-site link"}
)

// refusedAtTheDoor is the status that a call is to be refused with before its route looks
// at it; 0 if it is not to be.
func (row doorRow) refusedAtTheDoor(server string, c doorCall) int {
	method, path, _ := strings.Cut(row.route, " ")
	link := row.link && method == http.MethodGet && strings.HasSuffix(c.site, " link")
	known := slices.Contains([]string{"localhost:8000", ownName}, c.host) || server != "alone" && c.origin == "" && strings.ContainsAny(c.host[:min(1, len(c.host))], "1[")
	foreign := c.origin == "http://evil.example" && c.host != "evil.example" || c.origin == "null"
	asked := row.asks && (server == "token" || server == "auth") || row.token && server == "token"
	file := strings.HasPrefix(path, "/files/")
	switch {
	case path == "/healthz":
		return 0
	case known:
	case server == "alone", c.origin != "", c.site != "" && (!file || !link), !row.anyName && !asked:
		return http.StatusMisdirectedRequest
	}
	if foreign || strings.HasPrefix(c.site, "same-site") || strings.HasPrefix(c.site, "cross-site") && !link {
		return http.StatusForbidden
	}
	return 0
}

// TestEveryDoor tries every route under every kind of name, as every kind of page and
// program, with each credential: who is refused at the door, and that nothing is told to
// those who may not have it.
func TestEveryDoor(t *testing.T) {
	name := t.TempDir() + "/0123456789abcdef0123456789abcdef"
	if err := os.WriteFile(name, []byte("<script>"), 0o600); err != nil {
		t.Fatal(err)
	}
	ready := func(context.Context) Readiness {
		return Readiness{OK: true, Checks: []Check{{Name: "x", Message: detail}}}
	}
	side := func(auth bool) *Platform {
		return &Platform{Secret: func() string { return "inbound" }, Token: func() string { return "auth-token" }, RequireAuth: auth, Files: files.New(files.Config{Work: t.TempDir()})}
	}
	page := func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	}
	machines := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(detail)) })
	for server, cfg := range map[string]Config{
		"open": {AnyHost: true, Platform: side(false)}, "auth": {AnyHost: true, Platform: side(true)},
		"token": {AnyHost: true, Token: rightToken}, "alone": {},
	} {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			cfg.Handler, cfg.Ready, cfg.Kept, cfg.Console, cfg.Machines, cfg.AllowedHosts = confiding(), ready, oneFile{name}, page, machines, []string{ownName}
			s := newServer(t, cfg)
			wantEveryRoute(t, s)
			for _, row := range doorRows {
				for _, host := range doorHosts {
					for _, origin := range doorOrigins {
						for _, site := range doorSites {
							for _, credential := range []string{"", "wrong", rightToken, "inbound"} {
								row.try(t, server, s.Handler(), doorCall{host, origin, site, credential})
							}
						}
					}
				}
			}
		})
	}
}

// send makes a call, from this machine.
func (row doorRow) send(h http.Handler, method, path string, c doorCall) answer {
	body := ""
	if method == http.MethodPost {
		body = "{}"
	}
	r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
	r.Host, r.RemoteAddr = c.host, "127.0.0.1:9"
	set := func(name, value string) {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	set("Content-Type", "application/json")
	set("Origin", strings.Replace(c.origin, "same", "http://"+c.host, 1))
	if site, link, _ := strings.Cut(c.site, " "); link != "" {
		set("Sec-Fetch-Site", site)
		set("Sec-Fetch-Mode", "navigate")
		set("Sec-Fetch-Dest", "document")
	} else if site != "" {
		set("Sec-Fetch-Site", site)
		set("Sec-Fetch-Mode", "cors")
		set("Sec-Fetch-Dest", "empty")
	}
	if c.credential != "" {
		set("Authorization", "Bearer "+c.credential)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return answer{w.Code, w.Header(), w.Body.String()}
}

// try makes a call and looks at what came of it.
func (row doorRow) try(t *testing.T, server string, h http.Handler, c doorCall) {
	t.Helper()
	method, path, _ := strings.Cut(row.route, " ")
	path = strings.NewReplacer("{task}", "T1", "{token}", "t", "{name}", "a.html", "{config}", "p", "*", "x").Replace(path)
	a := row.send(h, method, path, c)
	say := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s, %s as %+v: %d %.200s: %s", server, row.route, c, a.status, a.body, fmt.Sprintf(format, args...))
	}
	want := row.refusedAtTheDoor(server, c)
	// Beyond the door a route gives these for a reason of its own.
	refused := a.status == http.StatusMisdirectedRequest || a.status == http.StatusForbidden && strings.Contains(a.body, "pages from")
	if method == http.MethodHead {
		refused = a.status == http.StatusMisdirectedRequest || a.status == http.StatusForbidden
	}
	if want != 0 && a.status != want || want == 0 && refused {
		say("want %d", want)
	}
	right := server == "token" && c.credential == rightToken
	if asked := row.token && (server == "token" || server == "auth" && path != "/metrics" && !strings.HasPrefix(path, "/machines")); want == 0 && asked {
		if may := right || server == "auth" && c.credential == "inbound"; may == (a.status == http.StatusUnauthorized) {
			say("a credential is asked")
		}
	}
	if strings.Contains(a.body, confidential) && !slices.Contains([]string{"localhost:8000", ownName}, c.host) && c.origin != "" {
		say("a page of another name has what was said")
	}
	if strings.Contains(a.body, confidential) && c.host == foreignName && !right && (server != "auth" || c.credential != "inbound") {
		say("another name has what was said")
	}
	if told := strings.Contains(a.body, detail) || strings.Contains(a.body, "go_goroutines"); told && !right && (server == "token" || c.host != "localhost:8000") {
		say("it tells details")
	}
	if h := a.header; h.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(h.Get("Content-Security-Policy"), "sandbox") || h.Get("Access-Control-Allow-Origin") != "" {
		say("the headers are %v", h)
	}
}

// wantEveryRoute holds the table to the routes that there are.
func wantEveryRoute(t *testing.T, s *Server) {
	t.Helper()
	var have []string
	err := chi.Walk(s.handler.(chi.Routes), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if route = strings.TrimSuffix(route, "/"); route == "" {
			route = "/"
		}
		if strings.HasPrefix(route, "/console") && method != http.MethodGet && method != http.MethodPost {
			return nil // the console says itself what it takes
		}
		have = append(have, method+" "+route)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, route := range have {
		if !slices.ContainsFunc(doorRows, func(row doorRow) bool { return row.route == route }) && route != "POST /console" {
			t.Errorf("the table lacks %s", route)
		}
	}
	for _, row := range doorRows {
		if !slices.Contains(have, row.route) {
			t.Errorf("the table has %s, which there is not", row.route)
		}
	}
}
