package forward

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const key = "sk-the-real-key-of-this-endpoint"

// A logged is what a forwarder has logged.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func start(t *testing.T) (*Forwarder, *logged) {
	t.Helper()
	return startBy(t, func(*http.Transport) {})
}

// startBy is start with what is set on the way to the endpoints.
func startBy(t *testing.T, set func(*http.Transport)) (*Forwarder, *logged) {
	t.Helper()
	log := &logged{}
	transport, err := Transport("")
	if err == nil && (transport.HTTP2 == nil || transport.HTTP2.SendPingTimeout == 0) {
		t.Error("a dead connection is not noticed")
	}
	if err != nil {
		t.Fatal(err)
	}
	set(transport)
	f, err := Listen(transport, func(Call) {}, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := f.Close(ctx); err != nil {
			t.Error(err)
		}
		if strings.Contains(log.String(), key) || strings.Contains(log.String(), "words") {
			t.Errorf("the log holds what it must not:\n%s", log)
		}
	})
	return f, log
}

func endpoint(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// TestRenewWhileItCloses: codex may be started while all ends.
func TestRenewWhileItCloses(t *testing.T) {
	for range 100 {
		f, err := Listen(&http.Transport{}, func(Call) {}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for range 10 {
				_, _, _ = f.Renew(Target{URL: "http://127.0.0.1:1/v1", Key: key})
			}
		}()
		if err := f.Close(context.Background()); err != nil {
			t.Error(err)
		}
		<-ended
		if _, _, err := f.Renew(Target{URL: "http://127.0.0.1:1/v1", Key: key}); err == nil {
			t.Error("it goes on")
		}
	}
}

func ask(t *testing.T, url, token string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("words"))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", token)
	}
	req.Header.Set("Originator", "codex")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
}

func TestKeyIsAdded(t *testing.T) {
	var got *http.Request
	body := ""
	url := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got, body = r, string(text)
		w.Header().Set("X-Request-Id", "r1")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, "slower")
	})
	f, _ := start(t)
	base, token, err := f.Renew(Target{URL: url + "/v1/", Key: " " + key + "\n"})
	if err != nil || !strings.HasPrefix(base, "http://127.0.0.1:") || len(token) < 26 {
		t.Fatalf("%q %q %v", base, token, err)
	}
	res := ask(t, base+"/responses?a=b", "Bearer "+token)
	text, _ := io.ReadAll(res.Body)
	if res.StatusCode != http.StatusTooManyRequests || string(text) != "slower" || res.Header.Get("X-Request-Id") != "r1" {
		t.Errorf("%d %q %v", res.StatusCode, text, res.Header)
	}
	if got.URL.String() != "/v1/responses?a=b" || got.Header.Get("Authorization") != "Bearer "+key || body != "words" || "http://"+got.Host != url {
		t.Errorf("%s %v %q of %s", got.URL, got.Header, body, got.Host)
	}
	for name, values := range got.Header {
		if strings.Contains(strings.Join(values, " "), token) || strings.HasPrefix(name, "X-Forwarded") || name == "Accept-Encoding" && values[0] != "identity" {
			t.Errorf("%s: %q was added or handed on", name, values)
		}
	}
}

func TestOnlyTheOneCodexGetsThrough(t *testing.T) {
	asked := 0
	url := endpoint(t, func(http.ResponseWriter, *http.Request) { asked++ })
	f, _ := start(t)
	if res := ask(t, "http://"+f.host+"/responses", "Bearer "); res.StatusCode != http.StatusForbidden {
		t.Errorf("before there is a token: %d", res.StatusCode)
	}
	base, first, err := f.Renew(Target{URL: url, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	_, second, err := f.Renew(Target{URL: url, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{"", "Bearer ", "Bearer x", second, "bearer " + second, "Bearer " + first, "Bearer " + key, "Bearer " + second + "x"} {
		res := ask(t, base+"/responses", token)
		if text, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusForbidden || asked != 0 || strings.Contains(string(text), key) {
			t.Errorf("with %q: %d %s, asked %d times", token, res.StatusCode, text, asked)
		}
	}
	if res := ask(t, base+"/responses", "Bearer "+second); res.StatusCode != http.StatusOK || asked != 1 {
		t.Errorf("with the token: %d", res.StatusCode)
	}
}

// TestPiecesGoOnAtOnce has the endpoint wait for each piece to have arrived.
func TestPiecesGoOnAtOnce(t *testing.T) {
	arrived, gone := make(chan struct{}), make(chan struct{})
	url := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		defer close(gone)
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 3 {
			fmt.Fprintf(w, "data: %d\n", i)
			_ = http.NewResponseController(w).Flush()
			<-arrived
		}
		<-r.Context().Done() // codex hangs up in the middle
	})
	f, _ := start(t)
	base, token, err := f.Renew(Target{URL: url, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	res := ask(t, base+"/responses", "Bearer "+token)
	lines := bufio.NewScanner(res.Body)
	for i := range 3 {
		if !lines.Scan() || lines.Text() != fmt.Sprintf("data: %d", i) {
			t.Fatalf("piece %d: %q", i, lines.Text())
		}
		arrived <- struct{}{}
	}
	res.Body.Close()
	<-gone
}

func TestEndpointThatIsNotThere(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	f, log := start(t)
	base, token, err := f.Renew(Target{URL: s.URL + "/v1", Key: key})
	if err != nil {
		t.Fatal(err)
	}
	res := ask(t, base+"/responses", "Bearer "+token)
	text, _ := io.ReadAll(res.Body)
	if res.StatusCode != http.StatusBadGateway || !strings.Contains(string(text), `{"error":{"message":"the model's endpoint 127.0.0.1:`) || strings.Contains(string(text), key) {
		t.Errorf("%d %s", res.StatusCode, text)
	}
	if !strings.Contains(log.String(), "cannot be reached") {
		t.Errorf("log: %s", log)
	}
}

// TestAnswerThatIsCutStaysCut: a half answer must not look like a whole one.
func TestAnswerThatIsCutStaysCut(t *testing.T) {
	url := endpoint(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "half")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	f, _ := start(t)
	base, token, err := f.Renew(Target{URL: url, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(ask(t, base+"/responses", "Bearer "+token).Body)
	if string(text) != "half" || err == nil {
		t.Errorf("%q, %v", text, err)
	}
}

func TestTargetsThatAreNone(t *testing.T) {
	f, _ := start(t)
	for _, url := range []string{"", "x", "http://", "http://a b/"} {
		if _, _, err := f.Renew(Target{URL: url, Key: key}); err == nil || strings.Contains(err.Error(), key) {
			t.Errorf("%q: %v", url, err)
		}
	}
	if _, err := Transport(t.TempDir() + "/none.pem"); err == nil {
		t.Error("a file of authorities that is not there was taken")
	}
}

// TestEarlyAnswer has an endpoint answer while the request is still being sent.
func TestEarlyAnswer(t *testing.T) {
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		if err := control.EnableFullDuplex(); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, "early\n")
		_ = control.Flush()
		n, err := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "%d %v\n", n, err)
	}))
	defer endpoint.Close()
	f, _ := start(t)
	base, token, err := f.Renew(Target{URL: endpoint.URL, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	body, send := io.Pipe()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/responses", body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	go func() { _, _ = io.WriteString(send, "first ") }()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewReader(res.Body)
	if line, err := lines.ReadString('\n'); line != "early\n" {
		t.Fatalf("%q, %v", line, err)
	}
	go func() {
		_, _ = io.WriteString(send, "second")
		_ = send.Close()
	}()
	if line, err := lines.ReadString('\n'); line != "12 <nil>\n" {
		t.Errorf("behind the early answer comes %q, %v", line, err)
	}
}
