package tracing

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestRedirectsAreNotFollowed: what the collector is sent stays with it, its key above all.
func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a redirect was followed, with the key %q", r.Header.Get("X-Api-Key"))
	}))
	defer elsewhere.Close()
	for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		asked := 0
		collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked++
			http.Redirect(w, r, elsewhere.URL, status)
		}))
		var text bytes.Buffer
		made, err := Open(t.Context(), Config{
			Endpoint: collector.URL + "/v1/traces", Headers: map[string]string{"X-Api-Key": "a key"}, Logger: slog.New(slog.NewTextHandler(&text, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		_, span := made.tracer.Start(t.Context(), "x")
		span.End()
		if err := made.Close(); err != nil {
			t.Error(err)
		}
		if asked == 0 || !strings.Contains(text.String(), "which is not followed") {
			t.Errorf("%d: asked %d times: %s", status, asked, text.String())
		}
		collector.Close()
	}
}
