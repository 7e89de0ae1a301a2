package browser

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

const sessionToken = "a-token-that-is-long-enough-for-sessions"

// loggedIn is a program that asks for a token, and a tab that has shown it.
func loggedIn(t *testing.T) (*program, *page) {
	t.Helper()
	r := start(t, "RUNTIME_TOKEN="+sessionToken)
	p := open(t, r.URL+"/console")
	p.login()
	return r, p
}

func (p *page) login() {
	p.t.Helper()
	p.sees("label", "Token")
	p.write("#token", sessionToken+"\r")
	p.sees("#link", "Live")
}

// A neighbor is another program's server, on another port of the same host.
type neighbor struct {
	*httptest.Server
	mu   sync.Mutex // guards the field below
	seen []*http.Request
}

// newNeighbor serves a page that asks its own server for what is below /console, as a page
// may, and then sends what its visitor's browser would let it to the runtime at target.
func newNeighbor(t *testing.T, target string) *neighbor {
	n := &neighbor{}
	n.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.mu.Lock()
		n.seen = append(n.seen, r)
		n.mu.Unlock()
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><title>neighbor</title><script type="module">
			const target = %q, all = { credentials: 'include', mode: 'no-cors' };
			const form = (fields) => ({ ...all, method: 'POST', body: new URLSearchParams(fields) });
			const tries = [fetch('/console/api/state'), fetch('/console/x', { method: 'POST', body: 'x' }),
				fetch(target + '/console', all), fetch(target + '/console/api/state', all),
				fetch(target + '/console/login', form({ token: 'x' })), fetch(target + '/console/logout', form({}))];
			await Promise.allSettled(tries);
			document.body.append('stored: ' + JSON.stringify({ ...localStorage, ...sessionStorage }));
		</script><body></body>`, target)
	}))
	t.Cleanup(n.Close)
	return n
}

// cookie is what the browser has sent of the session's, and key what it must not have.
func (n *neighbor) cookie(t *testing.T, key string) string {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	cookie := ""
	for _, r := range n.seen {
		if shown := fmt.Sprint(r.URL, r.Header); strings.Contains(shown, key) {
			t.Errorf("another port was sent the key: %s", shown)
		}
		if shown := r.Header.Get("Cookie"); strings.Contains(shown, "molecule_console") {
			cookie = shown
		}
	}
	return cookie
}

// TestSessionIsOfOnePort: a browser sends the session's cookie to every port of the host,
// and with what a server there gets of it no route of the console opens.
func TestSessionIsOfOnePort(t *testing.T) {
	t.Parallel()
	r, p := loggedIn(t)
	key := p.eval("localStorage.getItem('session-key')")
	n := newNeighbor(t, r.URL)
	if ours, theirs := hostname(t, r.URL), hostname(t, n.URL); ours != theirs {
		t.Fatalf("the other port is of %s, and the console of %s", theirs, ours)
	}
	p.run(chromedp.Navigate(n.URL))
	p.sees("body", "stored: {}")
	cookie := n.cookie(t, key)
	if key == "" || cookie == "" {
		t.Fatalf("the key is %q, and another port was sent the cookie %q: this tests nothing", key, cookie)
	}
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/console/api/state", ""}, {"GET", "/console/api/events", ""}, {"POST", "/console/api/doctor", ""},
		{"POST", "/console/api/a2a", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"say taken over"}]}}}`},
	} {
		for _, header := range []string{"X-Unrelated", "X-Console-Key"} {
			if status := knock(t, c.method, r.URL+c.path, c.body, "Cookie", cookie, "X-Console", "1", header, cookie[strings.Index(cookie, "=")+1:]); status != http.StatusUnauthorized {
				t.Errorf("%s %s with the cookie of another port's server and %s = %d, want 401", c.method, c.path, header, status)
			}
		}
		if status := knock(t, c.method, r.URL+c.path, c.body, "X-Console", "1", "X-Console-Key", key); status != http.StatusUnauthorized {
			t.Errorf("%s %s with the key alone = %d, want 401", c.method, c.path, status)
		}
	}
	if n := len(r.Model.Requests()); n != 0 {
		t.Errorf("the model was asked %d times", n)
	}
	p.run(chromedp.Navigate(r.URL + "/console")) // no try of the other page's has ended it
	p.sees("#link", "Live")
	if log := r.Log(); strings.Contains(log, key) {
		t.Error("the log has the key in it")
	}
}

func hostname(t *testing.T, of string) string {
	t.Helper()
	u, err := url.Parse(of)
	if err != nil {
		t.Fatal(err)
	}
	return u.Hostname()
}

// knock is the status of a request that no browser makes.
func knock(t *testing.T, method, url, body string, header ...string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode >= http.StatusBadRequest { // a stream that opens has no end
		_, _ = io.Copy(io.Discard, res.Body)
	}
	return res.StatusCode
}

// TestSessionOfTabs: all tabs of an origin share the session, over reloads and a login
// anew, and a cookie whose key is gone leads to the login.
func TestSessionOfTabs(t *testing.T) {
	t.Parallel()
	r, p := loggedIn(t)
	if at := p.eval("location.href + ' ' + history.length"); !strings.HasPrefix(at, r.URL+"/console ") {
		t.Errorf("behind the login the page is %s", at)
	}
	key := p.eval("localStorage.getItem('session-key')")
	p.reload()
	p.sees("#link", "Live")
	other := p.beside()
	other.run(chromedp.Navigate(r.URL + "/console"))
	other.front()
	other.sees("#link", "Live")
	other.begin("tabs", "say from a second tab")
	other.sees(".message", "from a second tab")

	// As by a link of another site, with which no cookie goes: the form, in a browser that
	// has a session.
	other.eval(`(() => { const form = document.createElement('form'); form.method = 'post'; form.action = '/console/login';
		form.innerHTML = '<input name="token" value="` + sessionToken + `">'; document.body.append(form); form.submit(); return 1 })()`)
	other.until("another key", "localStorage.getItem('session-key') !== "+quote(key))
	other.sees("#link", "Live")
	p.front()
	p.begin("tabs", "say from the first tab") // with the key of the second
	p.sees(".message", "from the first tab")
	p.until("no banner, once its stream has the other key", "document.querySelector('#banners').innerText.trim() === ''")

	p.begin("tabs", "say at work\nhang")
	p.sees(".message", "at work")
	other.front()
	other.press(".bar", "Log out")
	other.sees("label", "Token")
	if left := other.eval("localStorage.getItem('session-key')"); left != "null" {
		t.Errorf("after the logout the key is %s", left)
	}
	p.front()
	p.sees("#banners", "logged out")
	other.front()
	other.login()
	p.front()
	p.sees("#link", "Live")
	p.until("no banner, once another tab has logged in", "document.querySelector('#banners').innerText.trim() === ''")
	p.send("#task-text", "say on as before")
	p.sees(".message", "on as before")

	for _, lost := range []string{"localStorage.clear()", "localStorage.setItem('session-key', 'X')"} {
		p.eval("(" + lost + ", 1)")
		p.run(chromedp.Navigate("about:blank"), chromedp.Navigate(r.URL+"/console"))
		p.login()
	}
}

// beside opens a tab in the same browser, with its cookies and what its pages store.
func (p *page) beside() *page {
	p.t.Helper()
	ctx, leave := chromedp.NewContext(p.ctx)
	p.t.Cleanup(leave)
	if err := chromedp.Do(ctx); err != nil { // the tab lives as long as the context that it is made with
		p.t.Fatal(err)
	}
	return &page{t: p.t, ctx: ctx, dir: p.dir}
}

// front has the browser show a tab: those behind it draw nothing.
func (p *page) front() {
	p.t.Helper()
	command(p, cdppage.BringToFront, cdp.Empty{})
}
