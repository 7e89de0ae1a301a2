package forward

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/crowd"
)

// TestStrangersAreNotKept: who shows no token is answered without its body, and its
// connection is closed.
func TestStrangersAreNotKept(t *testing.T) {
	f, _ := start(t)
	if _, _, err := f.Renew(Target{URL: "http://127.0.0.1:1", Key: key}); err != nil {
		t.Fatal(err)
	}
	for name, request := range map[string]string{
		"idle": "GET /x HTTP/1.1\r\nHost: " + f.host + "\r\n\r\n", "another host": "GET /x HTTP/1.1\r\nHost: evil.example\r\n\r\n",
		"a body that does not come": "POST /responses HTTP/1.1\r\nHost: " + f.host + "\r\nContent-Length: 10\r\n\r\n",
		"a body without end":        "POST /responses HTTP/1.1\r\nHost: " + f.host + "\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n",
	} {
		said := stranger(t, f, request)
		res, err := http.ReadResponse(said, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		if _, err := said.ReadByte(); res.StatusCode != http.StatusForbidden || err != io.EOF {
			t.Errorf("%s: %s, then %v", name, res.Status, err)
		}
	}
	for name, header := range map[string]string{"is too large": "X: " + strings.Repeat("x", maxHeader+8<<10), "has too many fields": strings.Repeat("X:\r\n", 101) + "\r\n"} {
		said := stranger(t, f, "GET /x HTTP/1.1\r\nHost: "+f.host+"\r\n"+header)
		if res, err := http.ReadResponse(said, nil); err != nil || res.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("a header that %s: %v, %v", name, res, err)
		}
	}
}

// TestCrowdOfStrangers: as many connections as there may be, and more, keep codex out of none.
func TestCrowdOfStrangers(t *testing.T) {
	most := min(mostOpen, crowd.Most()/2)
	if most < mostOpen {
		t.Skip("this takes more files than may be open here")
	}
	for name, begun := range map[string]string{
		"slow": "GET /x HTTP/1.1\r\nX: ", "any": "OPTIONS * HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n",
		"expects": "POST / HTTP/1.1\r\nHost: x\r\nExpect: x\r\nContent-Length: 10\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) { crowdOf(t, most, begun) })
	}
}

func crowdOf(t *testing.T, most int, begun string) {
	f, log := start(t)
	url := endpoint(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })
	base, token, err := f.Renew(Target{URL: url, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	for range most {
		stranger(t, f, begun)
	}
	if res := ask(t, base+"/responses", "Bearer "+token); res.StatusCode != http.StatusOK {
		t.Errorf("codex is answered %s", res.Status)
	}
	if !strings.Contains(log.String(), "too many connections") {
		t.Error("none was closed for another")
	}
}

// stranger opens a connection and sends something.
func stranger(t *testing.T, f *Forwarder, text string) *bufio.Reader {
	t.Helper()
	conn, err := net.Dial("tcp", f.host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_, _ = fmt.Fprint(conn, text)
	return bufio.NewReader(conn)
}
