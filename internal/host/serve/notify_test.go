package serve

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// TestPeerIsTold: what the other agent has answered, whatever that is, it has; of what hangs nothing is known.
func TestPeerIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		answer string // "" hangs
		told   bool
	}{
		"answered": {`{"jsonrpc":"2.0","id":"t-end","result":{"kind":"message","parts":[{"kind":"text","text":"well"}]}}`, true},
		"an-error": {`{"jsonrpc":"2.0","id":"t-end","error":{"code":-32000,"message":"busy"}}`, true},
		"hangs":    {"", false},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if c.answer != "" {
				_, _ = io.WriteString(w, c.answer)
				return
			}
			cancel() // as when the time for it is up
			<-r.Context().Done()
		}))
		client := platform.New(platform.Config{URL: server.URL, Workspace: "us", Token: platform.Token{Value: "t"}})
		if err := (places{client: client, workspace: "us"}).tellPeer(ctx, "bob", "t", "it is done"); (err == nil) != c.told {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
		_ = client.Close()
		server.Close()
	}
}
