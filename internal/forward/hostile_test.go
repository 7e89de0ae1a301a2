package forward

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// TestTheTokenOpensTheModelOnly: a command that has found the token asks for what lies
// beside the endpoint.
func TestTheTokenOpensTheModelOnly(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.Method+" "+r.URL.EscapedPath())
	}))
	t.Cleanup(s.Close)
	f, _ := start(t)
	base, token, err := f.Renew(Target{URL: s.URL + "/llm/v1", Key: key})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"POST /../../admin", "POST /%2e%2e/%2e%2e/admin", "POST /responses/..%2f..%2fadmin", "GET /responses/../files", `GET /responses/..\..\admin`,
		"GET /responses%2f..%2f..%2fadmin", "GET http://evil.example/../admin", "GET //evil.example/admin", "GET /.", "GET /responses/./x/..",
		"DELETE /responses/r1", "PUT /responses", "TRACE /responses", "CONNECT evil.example:443", "CONNECT /responses",
		"GET /files", "POST /fine_tuning/jobs", "GET /organization/admin_api_keys", "POST /responsesx",
		"GET /responses/a%00b", "GET /responses/%0d%0aX: y",
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", line, strings.TrimPrefix(base, "http://"), token)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		text, _ := io.ReadAll(res.Body)
		if res.StatusCode < 400 || res.StatusCode == http.StatusBadGateway || strings.Contains(string(text), key) {
			t.Errorf("%s: %d %s", line, res.StatusCode, text)
		}
		_ = conn.Close()
	}
	if len(asked) != 0 {
		t.Errorf("the endpoint was asked %q", asked)
	}
	for _, path := range []string{"/responses", "/responses/compact?x=y"} {
		if res := ask(t, base+path, "Bearer "+token); res.StatusCode != http.StatusOK {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
}

// TestRedirectsAreNotHandedOn: codex follows them, with all that was said.
func TestRedirectsAreNotHandedOn(t *testing.T) {
	for location, want := range map[string]string{
		"https://user:pass@evil.example/x?k=v": "redirects to https://evil.example, which", "/elsewhere": "redirects to another path, which",
		"//evil.example/x": "redirects to evil.example, which",
	} {
		url := endpoint(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", location)
			w.WriteHeader(http.StatusTemporaryRedirect)
			_, _ = io.WriteString(w, "moved")
		})
		f, _ := start(t)
		base, token, err := f.Renew(Target{URL: url, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		res := ask(t, base+"/responses", "Bearer "+token)
		text, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusBadRequest || res.Header.Get("Location") != "" || !strings.Contains(string(text), want) {
			t.Errorf("%s: %d %v %s %v", location, res.StatusCode, res.Header, text, err)
		}
	}
	url := endpoint(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) })
	f, _ := start(t)
	base, token, err := f.Renew(Target{URL: url, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	if res := ask(t, base+"/responses", "Bearer "+token); res.StatusCode != http.StatusNotModified {
		t.Errorf("what is no redirect: %d", res.StatusCode)
	}
}

// TestLongHeaderOfAnEndpoint is not taken: small fields take many times their size in memory.
func TestLongHeaderOfAnEndpoint(t *testing.T) {
	url := endpoint(t, func(w http.ResponseWriter, _ *http.Request) {
		for i := range 1 << 15 {
			w.Header().Set("X-"+strconv.Itoa(i), "")
		}
	})
	f, _ := start(t)
	base, token, err := f.Renew(Target{URL: url, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	if res := ask(t, base+"/responses", "Bearer "+token); res.StatusCode != http.StatusBadGateway || len(res.Header) > 20 {
		t.Errorf("%d, %d fields", res.StatusCode, len(res.Header))
	}
}

// TestAnswersWithoutEnd: codex has a refusal in its memory whole, and keeps what it makes of an
// answer. The numbers are those of docs/security.md.
func TestAnswersWithoutEnd(t *testing.T) {
	for status, c := range map[int]struct {
		most int
		cut  bool // and does not look whole
	}{http.StatusBadRequest: {64 << 10, false}, http.StatusInternalServerError: {64 << 10, false}, http.StatusOK: {256 << 20, true}} {
		for _, length := range []string{"", strconv.Itoa(1 << 40)} {
			url := endpoint(t, func(w http.ResponseWriter, _ *http.Request) {
				if length != "" {
					w.Header().Set("Content-Length", length)
				}
				w.WriteHeader(status)
				for piece := make([]byte, 1<<20); ; {
					if _, err := w.Write(piece); err != nil {
						return
					}
				}
			})
			f, log := start(t)
			base, token, err := f.Renew(Target{URL: url, Key: key})
			if err != nil {
				t.Fatal(err)
			}
			n, err := io.Copy(io.Discard, ask(t, base+"/responses", "Bearer "+token).Body)
			if n != int64(c.most) || (err != nil) != c.cut {
				t.Errorf("%d, of %q bytes: %d came, %v", status, length, n, err)
			}
			if c.cut != strings.Contains(log.String(), "longer than any model's") {
				t.Errorf("%d: the log has %q", status, log)
			}
		}
	}
}
