package console_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/console"
)

const token = "a-token-nobody-guesses"

// A fixture is a console over what a test says.
type fixture struct {
	http.Handler
	tasks *tasks
	asked int         // how often an agent was called
	told  http.Header // with which it was called last

	mu    sync.Mutex // guards the field below
	state console.State
}

func (f *fixture) set(change func(*console.State)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(&f.state)
}

func open(t *testing.T, change func(*console.Config)) *fixture {
	t.Helper()
	f := &fixture{tasks: &tasks{}}
	cfg := console.Config{
		State: func(context.Context) console.State {
			f.mu.Lock()
			defer f.mu.Unlock()
			return f.state
		},
		Tasks:   f.tasks,
		Doctor:  func(context.Context) []console.Check { return []console.Check{{Name: "codex", OK: true}} },
		Version: "v1.2.3",
	}
	if change != nil {
		change(&cfg)
	}
	c, err := console.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	f.Handler = c.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.asked++
		f.told = r.Header
		_, _ = w.Write([]byte(`{"jsonrpc":"2.0"}`))
	}))
	return f
}

func withToken(cfg *console.Config) { cfg.Token = token }

// request is one from this machine, as the page sends it.
func request(method, path string, body string) *http.Request {
	r := httptest.NewRequest(method, "http://localhost:8000"+path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:50000"
	if method == http.MethodPost {
		r.Header.Set("X-Console", "1")
	}
	return r
}

func form(path, token string) *http.Request {
	r := request(http.MethodPost, path, url.Values{"token": {token}}.Encode())
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Del("X-Console") // a form cannot
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return r
}

func (f *fixture) do(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	return w
}

// A session is what a browser has of one: the cookie, and the key that the page keeps.
type session struct {
	cookie *http.Cookie
	key    string
}

// loggedIn returns a new session.
func (f *fixture) loggedIn(t *testing.T) session {
	t.Helper()
	return admitted(t, f.do(form("/console/login", token)))
}

var sessionKey = regexp.MustCompile(`<meta name="session-key" content="([A-Z2-7]{26,})">`)

// admitted is the session that the answer to a login begins.
func admitted(t *testing.T, w *httptest.ResponseRecorder) session {
	t.Helper()
	cookies, key := w.Result().Cookies(), sessionKey.FindStringSubmatch(w.Body.String())
	if w.Code != http.StatusOK || len(cookies) != 1 || key == nil {
		t.Fatalf("login = %d with %d cookies, want 200 with one and a key: %s", w.Code, len(cookies), w.Body)
	}
	return session{cookies[0], key[1]}
}

// with has a request show what it can of a session.
func with(r *http.Request, shows session) *http.Request {
	if shows.cookie != nil {
		r.AddCookie(shows.cookie)
	}
	if shows.key != "" {
		r.Header.Set("X-Console-Key", shows.key)
	}
	return r
}

// tasks are those of a test, and those who watch them.
type tasks struct {
	mu      sync.Mutex // guards the fields below
	newest  []console.Task
	err     error
	watches map[*watch]bool
}

func (s *tasks) Newest(context.Context, int) ([]console.Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]console.Task(nil), s.newest...), s.err
}

func (s *tasks) Watch() console.Watch {
	w := &watch{of: s, token: make(chan struct{}, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watches == nil {
		s.watches = map[*watch]bool{}
	}
	s.watches[w] = true
	return w
}

func (s *tasks) watched() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.watches)
}

// change tells all who watch.
func (s *tasks) change(lost bool, changed ...console.Task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watches {
		w.changed, w.lost = append(w.changed, changed...), lost
		select {
		case w.token <- struct{}{}:
		default:
		}
	}
}

type watch struct {
	of      *tasks
	token   chan struct{}
	changed []console.Task
	lost    bool
}

func (w *watch) Changed() <-chan struct{} { return w.token }

func (w *watch) Take() ([]console.Task, bool) {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	changed, lost := w.changed, w.lost
	w.changed, w.lost = nil, false
	return changed, lost
}

func (w *watch) Close() {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	delete(w.of.watches, w)
}
