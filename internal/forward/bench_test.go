package forward

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
)

// BenchmarkForward compares a request that goes straight with one that goes this way:
// the difference is what the forwarder adds to each request of a turn.
func BenchmarkForward(b *testing.B) {
	piece := []byte("event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"word \"}\n\n")
	const deltas = 500
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		n := 1
		if r.URL.RawQuery == "many" {
			n = deltas
		}
		for range n {
			_, _ = w.Write(piece)
			_ = http.NewResponseController(w).Flush()
		}
	}))
	defer server.Close()
	transport, _ := Transport("")
	f, err := Listen(transport, func(Call) {}, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close(context.Background())
	base, token, _ := f.Renew(Target{URL: server.URL, Key: key})
	prompt := bytes.Repeat([]byte("x"), 60<<10)
	for _, c := range []struct{ name, url string }{
		{"turn/direct", server.URL + "/responses"}, {"turn/forwarded", base + "/responses"},
		{"500-deltas/direct", server.URL + "/responses?many"}, {"500-deltas/forwarded", base + "/responses?many"},
	} {
		b.Run(c.name, func(b *testing.B) {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for b.Loop() {
				req, _ := http.NewRequest(http.MethodPost, c.url, bytes.NewReader(prompt))
				req.Header.Set("Authorization", "Bearer "+token)
				res, err := client.Do(req)
				if err != nil {
					b.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, res.Body)
				res.Body.Close()
			}
		})
	}
}
