package console_test

import (
	"bufio"
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/console"
)

// TestThisMachineOnly: where no token is set, only callers of this machine are let in,
// under a name of it.
func TestThisMachineOnly(t *testing.T) {
	f := open(t, nil)
	for name, c := range map[string]struct {
		change func(*http.Request)
		status int
	}{
		"localhost":         {func(*http.Request) {}, http.StatusOK},
		"IPv6":              {func(r *http.Request) { r.RemoteAddr, r.Host = "[::1]:9", "[::1]:8000" }, http.StatusOK},
		"mapped":            {func(r *http.Request) { r.RemoteAddr, r.Host = "[::ffff:127.0.0.1]:9", "127.0.0.1" }, http.StatusOK},
		"a-name-below":      {func(r *http.Request) { r.Host = "codex.localhost:8000" }, http.StatusOK},
		"another-machine":   {func(r *http.Request) { r.RemoteAddr = "192.0.2.1:9" }, http.StatusForbidden},
		"no-address":        {func(r *http.Request) { r.RemoteAddr = "@" }, http.StatusForbidden},
		"a-rebound-name":    {func(r *http.Request) { r.Host = "evil.example:8000" }, http.StatusForbidden},
		"looks-like-it":     {func(r *http.Request) { r.Host = "localhost.evil.example" }, http.StatusForbidden},
		"no-host":           {func(r *http.Request) { r.Host = "" }, http.StatusForbidden},
		"behind-a-proxy":    {func(r *http.Request) { r.Header.Set("X-Forwarded-For", "127.0.0.1") }, http.StatusForbidden},
		"behind-a-proxy-II": {func(r *http.Request) { r.Header.Set("Forwarded", "for=127.0.0.1") }, http.StatusForbidden},
		"behind-a-sidecar":  {func(r *http.Request) { r.Header.Set("X-Envoy-Attempt-Count", "1") }, http.StatusForbidden},
		"for-an-address":    {func(r *http.Request) { r.Header.Set("X-Real-IP", "192.0.2.1") }, http.StatusForbidden},
		"by-way-of":         {func(r *http.Request) { r.Header.Set("Via", "1.1 proxy") }, http.StatusForbidden},
		"over-TLS":          {func(r *http.Request) { r.Header.Set("X-Forwarded-Proto", "https") }, http.StatusForbidden},
		"behind-plain-nginx": {func(r *http.Request) {
			r.Proto, r.ProtoMinor = "HTTP/1.0", 0
			r.Header.Set("Connection", "close")
		}, http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			for _, r := range []*http.Request{
				request(http.MethodGet, "/console", ""), request(http.MethodGet, "/console/api/state", ""),
				request(http.MethodPost, "/console/api/a2a", "{}"), request(http.MethodPost, "/console/api/doctor", ""),
			} {
				c.change(r)
				w := f.do(r)
				if strings.HasSuffix(r.URL.Path, "doctor") && w.Code == http.StatusTooManyRequests {
					continue // let in, and too soon
				}
				if w.Code != c.status {
					t.Errorf("%s %s = %d, want %d", r.Method, r.URL.Path, w.Code, c.status)
				}
				if w.Code == http.StatusForbidden && !strings.Contains(w.Body.String(), "RUNTIME_TOKEN") {
					t.Errorf("%s says %q, want the setting that opens it", r.URL.Path, w.Body)
				}
			}
		})
	}
}

// TestTokenForEverybody: with a token, this machine has to show it, too.
func TestTokenForEverybody(t *testing.T) {
	f := open(t, withToken)
	page := f.do(request(http.MethodGet, "/console", ""))
	if page.Code != http.StatusOK || !strings.Contains(page.Body.String(), `action="/console/login"`) {
		t.Errorf("GET /console = %d %s, want the form", page.Code, page.Body)
	}
	for _, path := range []string{"state", "events"} {
		if w := f.do(request(http.MethodGet, "/console/api/"+path, "")); w.Code != http.StatusUnauthorized {
			t.Errorf("GET %s = %d, want 401", path, w.Code)
		}
	}
	for _, cookie := range []string{"", token, "x", strings.Repeat("y", 5000), "\x00"} {
		r := with(request(http.MethodPost, "/console/api/a2a", "{}"), session{&http.Cookie{Name: "molecule_console_8000", Value: cookie}, cookie})
		if w := f.do(r); w.Code != http.StatusUnauthorized {
			t.Errorf("with the cookie %.10q = %d, want 401", cookie, w.Code)
		}
	}
	if f.asked != 0 {
		t.Errorf("the agent was called %d times by strangers", f.asked)
	}
}

func TestLogin(t *testing.T) {
	f := open(t, withToken)
	mine := f.loggedIn(t)
	cookie := mine.cookie
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/console" || cookie.Secure || cookie.MaxAge != 12*60*60 {
		t.Errorf("the cookie is %v", cookie)
	}
	if strings.Contains(cookie.Value, token) || len(cookie.Value) < 20 {
		t.Errorf("the cookie's value %q is no random one", cookie.Value)
	}
	if w := f.do(with(request(http.MethodGet, "/console", ""), session{cookie: cookie})); !strings.Contains(w.Body.String(), "/console/logout") {
		t.Errorf("GET /console = %d, want the page", w.Code)
	}
	if w := f.do(with(request(http.MethodPost, "/console/api/a2a", "{}"), mine)); w.Code != http.StatusOK || f.asked != 1 {
		t.Errorf("a2a = %d, and the agent was called %d times", w.Code, f.asked)
	}
	if f.told.Get("Cookie") != "" || f.told.Get("X-Console-Key") != "" {
		t.Errorf("the agent was told the session: %v", f.told)
	}
	other := request(http.MethodGet, "/console/api/state", "")
	other.Host = "localhost:8001"
	if w := f.do(with(other, mine)); w.Code != http.StatusUnauthorized {
		t.Errorf("with the cookie of another port = %d, want 401", w.Code)
	}
	again := open(t, withToken) // the runtime was started anew
	if w := again.do(with(request(http.MethodGet, "/console/api/state", ""), mine)); w.Code != http.StatusUnauthorized {
		t.Errorf("after a restart = %d, want 401", w.Code)
	}
	out := f.do(with(form("/console/logout", ""), session{cookie: cookie}))
	if out.Code != http.StatusSeeOther || out.Result().Cookies()[0].MaxAge >= 0 {
		t.Errorf("logout = %d, cookie %v", out.Code, out.Result().Cookies())
	}
	if w := f.do(with(request(http.MethodGet, "/console/api/state", ""), mine)); w.Code != http.StatusUnauthorized {
		t.Errorf("after the logout = %d, want 401", w.Code)
	}
}

func TestCookieOverTLS(t *testing.T) {
	f := open(t, withToken)
	r := form("/console/login", token)
	r.Host = "codex.example.com"
	r.Header.Set("X-Forwarded-Proto", "https")
	cookies := f.do(r).Result().Cookies()
	if len(cookies) != 1 || !cookies[0].Secure || cookies[0].Name != "molecule_console" {
		t.Errorf("cookies = %v, want a secure one", cookies)
	}
	r = form("/console/login", token) // the proxy says nothing, and the browser does
	r.Host = "codex.example.com"
	r.Header.Set("Origin", "https://codex.example.com")
	if cookies := f.do(r).Result().Cookies(); len(cookies) != 1 || !cookies[0].Secure {
		t.Errorf("cookies = %v, want a secure one", cookies)
	}
}

// TestSlowLogin: whoever has shown nothing yet does not keep us waiting for his form.
func TestSlowLogin(t *testing.T) {
	server := httptest.NewServer(open(t, func(cfg *console.Config) { cfg.Token, cfg.FormTimeout = token, 100*time.Millisecond }))
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "POST /console/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 20\r\n\r\ntok")
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("it is still waited for: %v", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusBadRequest {
		t.Errorf("a form that does not come = %d, want 400", answer.StatusCode)
	}
}

// TestLoginWithoutAForm: the time that a form has is over before the answer, and means
// nothing where there is none.
func TestLoginWithoutAForm(t *testing.T) {
	server := httptest.NewServer(open(t, func(cfg *console.Config) { cfg.Token, cfg.FormTimeout = token, time.Millisecond }))
	defer server.Close()
	for range 2 { // on one connection
		answer, err := server.Client().Post(server.URL+"/console/login", "application/x-www-form-urlencoded", nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusUnauthorized {
			t.Errorf("no form = %d, want 401", answer.StatusCode)
		}
	}
}

func TestWrongToken(t *testing.T) {
	f := open(t, withToken)
	for _, given := range []string{"", "wrong", token + " ", strings.ToUpper(token), "<script>alert(1)</script>"} {
		w := f.do(form("/console/login", given))
		if w.Code != http.StatusUnauthorized || len(w.Result().Cookies()) != 0 {
			t.Errorf("login with %q = %d, cookies %v", given, w.Code, w.Result().Cookies())
		}
		if body := w.Body.String(); !strings.Contains(body, "That is not the token") || given != "" && strings.Contains(body, given) {
			t.Errorf("login with %q says %s", given, body)
		}
	}
	if w := f.do(form("/console/login", strings.Repeat("x", 1<<20))); w.Code != http.StatusBadRequest {
		t.Errorf("login with a megabyte = %d, want 400", w.Code)
	}
	query := request(http.MethodPost, "/console/login?token="+token, "other=field")
	query.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if w := f.do(query); w.Code != http.StatusUnauthorized {
		t.Errorf("login by the URL = %d, want 401: it stands in logs", w.Code)
	}
}

// TestGuessingIsSlow: wrong tokens are refused one by one, and the right one gets through
// beside them, from the same address.
func TestGuessingIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		f := open(t, func(cfg *console.Config) {
			cfg.Token, cfg.Logger = token, slog.New(slog.NewTextHandler(&log, nil))
		})
		begin := time.Now()
		answers := make(chan int, 20)
		for range 20 {
			go func() { answers <- f.do(form("/console/login", "guess")).Code }()
		}
		synctest.Wait()
		f.loggedIn(t)
		if took := time.Since(begin); took > 0 {
			t.Errorf("the right token took %v beside the guesses", took)
		}
		got := map[int]int{}
		for range 20 {
			got[<-answers]++
		}
		if got[http.StatusTooManyRequests] != 12 || got[http.StatusUnauthorized] != 8 {
			t.Errorf("20 guesses at once = %v, want 8 times 401 and 12 times 429", got)
		}
		if took := time.Since(begin); took < 2400*time.Millisecond {
			t.Errorf("8 guesses took %v, want 300 ms each", took)
		}
		f.loggedIn(t)
		time.Sleep(2 * time.Minute)
		f.do(form("/console/login", "guess"))
		if said := log.String(); strings.Count(said, "wrong token") != 2 || !strings.Contains(said, "times=20 ") || strings.Contains(said, "guess") {
			t.Errorf("the log says %s, want a line a minute", said)
		}
	})
}

func TestSessionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, withToken)
		first := f.loggedIn(t)
		may := func(shows session) bool { return f.lets(shows) == http.StatusOK }
		time.Sleep(12*time.Hour - time.Minute)
		if !may(first) {
			t.Error("a session ended before its time")
		}
		time.Sleep(2 * time.Minute)
		if may(first) {
			t.Error("a session was good for more than 12 hours")
		}
		oldest := f.loggedIn(t)
		for range 64 {
			time.Sleep(time.Second)
			first = f.loggedIn(t)
		}
		if may(oldest) || !may(first) {
			t.Error("of 65 sessions the oldest should have ended, and the newest not")
		}
		time.Sleep(13 * time.Hour) // their timers end
	})
}

// TestOtherPages: what the pages of other sites can make a browser send is refused, but
// for a link to the page.
func TestOtherPages(t *testing.T) {
	f := open(t, nil)
	for _, path := range []string{"/console/api/a2a", "/console/api/doctor"} {
		r := request(http.MethodPost, path, "{}")
		r.Header.Del("X-Console")
		if w := f.do(r); w.Code != http.StatusForbidden {
			t.Errorf("POST %s without X-Console = %d, want 403", path, w.Code)
		}
	}
	for _, site := range []string{"cross-site", "same-site", "anything"} {
		for _, r := range []*http.Request{
			request(http.MethodGet, "/console/api/events", ""), request(http.MethodGet, "/console/api/state", ""),
			request(http.MethodPost, "/console/api/a2a", "{}"), request(http.MethodGet, "/console/static/app.css", ""),
			form("/console/login", token), form("/console/logout", ""),
		} {
			r.Header.Set("Sec-Fetch-Site", site)
			if w := f.do(r); w.Code != http.StatusForbidden {
				t.Errorf("%s %s of a page that is %s = %d, want 403", r.Method, r.URL.Path, site, w.Code)
			}
		}
		r := request(http.MethodGet, "/console", "")
		r.Header.Set("Sec-Fetch-Site", site)
		if w := f.do(r); w.Code != http.StatusOK {
			t.Errorf("a link to the page = %d, want 200", w.Code)
		}
	}
	if f.asked != 0 {
		t.Errorf("the agent was called %d times", f.asked)
	}
}

// TestHeaders: whatever the answer, browsers are told what it may do.
func TestHeaders(t *testing.T) {
	for _, r := range []*http.Request{
		request(http.MethodGet, "/console", ""), request(http.MethodGet, "/console/static/app.css", ""),
		request(http.MethodGet, "/console/api/state", ""), request(http.MethodGet, "/console/nothing", ""),
		request(http.MethodDelete, "/console", ""), form("/console/login", "wrong"),
	} {
		for name, f := range map[string]*fixture{"open": open(t, nil), "token": open(t, withToken)} {
			h := f.do(r.Clone(t.Context())).Header()
			csp := h.Get("Content-Security-Policy")
			if !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "frame-ancestors 'none'") || strings.Contains(csp, "unsafe") {
				t.Errorf("%s, %s %s: the policy is %q", name, r.Method, r.URL.Path, csp)
			}
			if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "same-origin" {
				t.Errorf("%s, %s %s: headers are %v", name, r.Method, r.URL.Path, h)
			}
			if h.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s %s can be read by other pages", r.Method, r.URL.Path)
			}
		}
	}
}

func TestStatic(t *testing.T) {
	f := open(t, nil)
	w := f.do(request(http.MethodGet, "/console/static/app.css", ""))
	tag := w.Header().Get("ETag")
	if w.Code != http.StatusOK || tag == "" || w.Header().Get("Cache-Control") != "no-cache" || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/css") {
		t.Errorf("app.css = %d %v", w.Code, w.Header())
	}
	r := request(http.MethodGet, "/console/static/app.css", "")
	r.Header.Set("If-None-Match", tag)
	if w := f.do(r); w.Code != http.StatusNotModified || w.Body.Len() != 0 {
		t.Errorf("app.css again = %d with %d bytes, want 304", w.Code, w.Body.Len())
	}
	for _, name := range []string{"index.html", "login.html", "..%2fconsole.go", "%2e%2e", ".", "nothing", "app.css%00"} {
		if w := f.do(request(http.MethodGet, "/console/static/"+name, "")); w.Code == http.StatusOK {
			t.Errorf("static/%s = 200: %.80s", name, w.Body)
		}
	}
}

// TestPages: each of the pages can be made, in every state, without a script or a style
// written into it: the policy forbids both.
func TestPages(t *testing.T) {
	refused := request(http.MethodGet, "/console", "")
	refused.RemoteAddr = "192.0.2.1:9"
	for name, w := range map[string]*httptest.ResponseRecorder{
		"index":     open(t, nil).do(request(http.MethodGet, "/console", "")),
		"login":     open(t, withToken).do(request(http.MethodGet, "/console", "")),
		"wrong":     open(t, withToken).do(form("/console/login", "wrong")),
		"refused":   open(t, nil).do(refused),
		"admitted":  open(t, withToken).do(form("/console/login", token)),
		"workspace": open(t, func(cfg *console.Config) { cfg.Workspace = true }).do(refused.Clone(t.Context())),
	} {
		body := w.Body.String()
		if !strings.HasPrefix(body, "<!doctype html>") || w.Code >= http.StatusInternalServerError {
			t.Errorf("%s = %d %.200s", name, w.Code, body)
		}
		for _, inline := range []string{"<style", " style=", "<script>", " onclick=", "javascript:"} {
			if strings.Contains(body, inline) {
				t.Errorf("%s has %q in it", name, inline)
			}
		}
	}
}
