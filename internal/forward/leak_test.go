package forward

import (
	"bufio"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"slices"
	"strings"
	"testing"
)

// answered is all that codex gets: what comes before an answer, its header, body and trailer.
func answered(t *testing.T, url, token string) (status int, all string) {
	t.Helper()
	var interim strings.Builder
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got1xxResponse: func(code int, header textproto.MIMEHeader) error {
		fmt.Fprintln(&interim, code, header)
		return nil
	}})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("words"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res.StatusCode, fmt.Sprintln(interim.String(), res.Status, res.Header, string(body), res.Trailer, err)
}

// TestQuotedKeyIsCovered: codex writes what an endpoint says into files that its commands
// read, so an endpoint that quotes what it got must not get the key there.
func TestQuotedKeyIsCovered(t *testing.T) {
	var status int
	quotes := func(w http.ResponseWriter, r *http.Request) {
		got := r.Header.Get("Authorization")
		w.Header().Set("Link", got)
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Set("Www-Authenticate", got)
		w.Header().Set("Trailer", "X-Said, X-More")
		w.WriteHeader(status)
		_, key, _ := strings.Cut(got, " ")
		_, _ = fmt.Fprintf(w, `{"error":{"message":"%s, %q, %s"}}`, got, got, base64.StdEncoding.EncodeToString([]byte(got)))
		for piece := range slices.Chunk([]byte("event: error\ndata: "+key+"\n\n"), 5) {
			_, _ = w.Write(piece)
			_ = http.NewResponseController(w).Flush()
		}
		w.Header().Set("X-Said", got)
		w.Header().Set("X-More", "more")
	}
	plain := httptest.NewServer(http.HandlerFunc(quotes))
	t.Cleanup(plain.Close)
	second := httptest.NewUnstartedServer(http.HandlerFunc(quotes))
	second.EnableHTTP2 = true
	second.StartTLS()
	t.Cleanup(second.Close)
	f, _ := start(t)
	f.transport.TLSClientConfig = second.Client().Transport.(*http.Transport).TLSClientConfig
	for _, url := range []string{plain.URL, second.URL} {
		base, token, err := f.Renew(Target{URL: url, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		for _, status = range []int{200, 400, 401, 403, 429, 500, 503} {
			got, all := answered(t, base+"/responses", token)
			if got != status || strings.Contains(all, key) || strings.Contains(all, base64.StdEncoding.EncodeToString([]byte("Bearer " + key))[10:40]) {
				t.Errorf("%d of %s: %d %s", status, url, got, all)
			}
			covered := strings.Repeat("*", len(key))
			for _, want := range []string{
				"Www-Authenticate:[Bearer " + covered + "]", `"Bearer ` + covered + `, "Bearer ` + covered, "data: " + covered + "\n\n", "X-Said:[Bearer " + covered + "]", "X-More:[more]",
			} {
				if !strings.Contains(all, want) {
					t.Errorf("%d of %s: there is no %s in %s", status, url, want, all)
				}
			}
		}
	}
}

// TestShortKeys are replaced where an endpoint refuses. In an answer a model may say them.
func TestShortKeys(t *testing.T) {
	status := 0
	url := endpoint(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "ask ollama")
	})
	f, _ := start(t)
	base, token, err := f.Renew(Target{URL: url, Key: "ollama"})
	if err != nil {
		t.Fatal(err)
	}
	for is, want := range map[int]string{200: "ask ollama", 400: "ask ******"} {
		status = is
		res := ask(t, base+"/responses", "Bearer "+token)
		if text, _ := io.ReadAll(res.Body); string(text) != want || res.ContentLength != int64(len(want)) {
			t.Errorf("%d: %q of %d", is, text, res.ContentLength)
		}
	}
}

// TestPackedAnswersAreNotHandedOn: the key cannot be looked for in them.
func TestPackedAnswersAreNotHandedOn(t *testing.T) {
	status := 0
	url := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(status)
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, r.Header.Get("Authorization"))
		_ = z.Close()
	})
	f, _ := start(t)
	base, token, err := f.Renew(Target{URL: url, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	for is, want := range map[int]int{200: 502, 400: 400, 429: 429} {
		status = is
		res := ask(t, base+"/responses", "Bearer "+token)
		text, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != want || res.Header.Get("Content-Encoding") != "" || res.Header.Get("Retry-After") != "7" ||
			!strings.Contains(string(text), fmt.Sprintf(`{"error":{"message":"the model's endpoint answers %d and packs what it says as gzip`, is)) {
			t.Errorf("%d: %d %v %s %v", is, res.StatusCode, res.Header, text, err)
		}
	}
}

// TestAnswersThatAreNone are quoted by errors, which codex is told and the log has.
func TestAnswersThatAreNone(t *testing.T) {
	for _, raw := range []string{
		"KEY\r\n\r\n", "HTTP/1.1 KEY\r\n\r\n", "HTTP/1.1 400 KEY\r\nKEY\r\n\r\n", "HTTP/1.1 400 KEY\r\nContent-Length: KEY\r\n\r\n",
		"HTTP/1.1 400 KEY\r\nContent-Length: 9\r\n\r\nno", "HTTP/1.1 101 KEY\r\nConnection: Upgrade\r\nUpgrade: KEY\r\n\r\nKEY",
		"HTTP/1.1 400 KEY\r\nTransfer-Encoding: KEY\r\n\r\nno", "HTTP/1.1 400 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\nKEY\r\n",
		"HTTP/1.1 400 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\nKEY\r\n\r\n", "HTTP/1.1 307 KEY\r\nLocation: https://KEY.example/\r\n\r\n",
		"HTTP/1.1 400 No\r\nContent-Encoding: KEY\r\nContent-Length: 2\r\n\r\nno",
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				go func() { // one connection is made ahead
					defer conn.Close()
					if req, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
						_, _ = io.Copy(io.Discard, req.Body)
						_, _ = io.WriteString(conn, strings.ReplaceAll(raw, "KEY", key))
					}
				}()
			}
		}()
		f, _ := start(t) // at its end the log must be without the key
		base, token, err := f.Renew(Target{URL: "http://" + listener.Addr().String(), Key: key})
		if err != nil {
			t.Fatal(err)
		}
		if status, all := answered(t, base+"/responses", token); status < 400 || strings.Contains(all, key) {
			t.Errorf("%q: %d %s", raw, status, all)
		}
		_ = listener.Close()
		<-done
	}
}
