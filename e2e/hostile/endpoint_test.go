package hostile

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	order "encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// A rudeness is how an endpoint answers a request of the model, or a platform one of its
// own. It has the caller's credential to quote.
type rudeness struct {
	name  string
	serve func(w http.ResponseWriter, r *http.Request)
}

// quote is the credential that came, which nothing should carry on.
func quote(r *http.Request) string { return r.Header.Get("Authorization") }

// refusals quote the credential in all places that an answer has.
func refusals(canary string) []rudeness {
	said := func(status int, media, body string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", media)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, strings.ReplaceAll(body, "QUOTE", quote(r)))
		}
	}
	const failed = `data: {"type":"response.failed","response":{"id":"r","error":{"code":"server_error","message":"bad QUOTE"}}}` + "\n\n"
	return []rudeness{
		{"JSON", said(400, "application/json", `{"error":{"message":"Incorrect API key provided: QUOTE"}}`)},
		{"HTML", said(404, "text/html", "<html>QUOTE</html>")},
		{"escaped", said(400, "application/json", `{"error":{"message":"\u0042earer `+escaped(theKey)+`"}}`)},
		{"a failed response", said(200, "text/event-stream", "event: response.failed\n"+failed)},
		{"in headers", func(w http.ResponseWriter, r *http.Request) {
			for _, name := range []string{"X-Request-Id", "Www-Authenticate", "Set-Cookie", "X-Oai-Request-Id", "Cf-Ray", "Openai-Organization", "X-Error-Json", "Location", "Server"} {
				w.Header().Set(name, quote(r))
			}
			w.WriteHeader(http.StatusBadRequest)
		}},
		{"in pieces", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			for _, b := range []byte("no: " + quote(r)) {
				_, _ = w.Write([]byte{b})
				_ = http.NewResponseController(w).Flush()
			}
		}},
		{"packed", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.WriteHeader(http.StatusBadRequest)
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, quote(r))
			_ = z.Close()
		}},
		{"a redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, canary, http.StatusTemporaryRedirect)
		}},
		{"another redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, canary+"?k="+quote(r), http.StatusFound)
		}},
		{"HTML in place of a stream", said(200, "text/html", "<html>no</html>")},
		{"nothing", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }},
	}
}

// escaped is a text as JSON may have it, letter by letter.
func escaped(text string) string {
	var b strings.Builder
	for _, c := range text {
		fmt.Fprintf(&b, `\u%04x`, c)
	}
	return b.String()
}

// floods are answers without an end, or much larger than they look.
func floods() []rudeness {
	endless := func(header map[string]string, status int, piece string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			for name, value := range header {
				w.Header().Set(name, value)
			}
			w.WriteHeader(status)
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, piece); err != nil {
					return
				}
			}
		}
	}
	long := strings.Repeat("x", 64<<10)
	return []rudeness{
		{"an endless refusal", endless(nil, 400, long)},
		{"an endless page", endless(map[string]string{"Content-Type": "application/json"}, 200, long)},
		{"a bomb", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write(bomb())
		}},
		{"a header of a megabyte", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Long", strings.Repeat("x", 1<<20))
			w.WriteHeader(http.StatusBadRequest)
		}},
	}
}

// bomb is a gibibyte.
var bomb = sync.OnceValue(func() []byte { return packed(1 << 10) })

// packed are so many mebibytes of zeros. One is packed, up to where the next may follow, and
// stands there as often: it looks back at nothing but itself.
func packed(times int) []byte {
	piece := make([]byte, 1<<20)
	var once, all bytes.Buffer
	z, _ := flate.NewWriter(&once, flate.BestCompression)
	_, _ = z.Write(piece)
	_ = z.Flush()
	all.Write([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff}) // RFC 1952, 2.3
	all.Write(bytes.Repeat(once.Bytes(), times))
	once.Reset()
	_ = z.Close()
	all.Write(once.Bytes())
	sum := uint32(0)
	for range times {
		sum = crc32.Update(sum, crc32.IEEETable, piece)
	}
	return order.LittleEndian.AppendUint32(order.LittleEndian.AppendUint32(all.Bytes(), sum), uint32(times)<<20)
}

// TestPacked is what anybody unpacks.
func TestPacked(t *testing.T) {
	t.Parallel()
	z, err := gzip.NewReader(bytes.NewReader(packed(3)))
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, z)
	if n != 3<<20 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// most is the memory that the program may come to need, whatever it is answered.
const most = 500 << 20

// TestEndpoint has the model's endpoint mean harm, each time in another way: the text of
// the message says in which.
func TestEndpoint(t *testing.T) {
	t.Parallel()
	bird := sing(t)
	rows := append(refusals("http://127.0.0.1:"+bird.port+"/"), some(floods(), 2)...)
	x := &world{t: t}
	x.model = modeltest.Start(t, fakemodel.Keywords)
	honest := x.model.Server
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "" { // what comes by a WebSocket is the forwarder's tests'
			w.WriteHeader(http.StatusUpgradeRequired)
			return
		}
		body, _ := io.ReadAll(r.Body)
		for _, row := range rows {
			if bytes.Contains(body, []byte("rude: "+row.name+".")) {
				row.serve(w, r)
				return
			}
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		honest.ServeHTTP(w, r)
	}))
	t.Cleanup(endpoint.Close)
	x.launch("serve", "OPENAI_BASE_URL="+endpoint.URL+"/v1", "CODEX_TURN_TIMEOUT=5s", "RUNTIME_MAX_TURNS=16")
	x.plant()
	atOnce(rows, func(row rudeness) {
		got := x.send(x.ours(message("rude "+row.name, "rude: "+row.name+".")))
		serving(t, row.name, got)
		clean(t, row.name, got)
		if !strings.Contains(got.body, "TASK_STATE_FAILED") {
			t.Errorf("%s: %s", row.name, got)
		}
	})
	x.uncopied(t)
	x.unharmed(t)
	if n := bird.visits.Load(); n != 0 {
		t.Errorf("the canary had %d visits", n)
	}
	if peak := progtest.PeakMemory(t, x.Pid()); peak > most {
		t.Errorf("the program came to %d MiB", peak>>20)
	}
}
