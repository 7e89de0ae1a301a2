package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// answersNobody is a receiver that takes connections and never answers.
func answersNobody(t *testing.T) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else the server does not see that the sender has left
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	return server
}

// sendTold sends a message whose sender wants to be told at a URL, and returns the answer.
func (w *workspace) sendTold(t *testing.T, id, text, url, metadata string) string {
	t.Helper()
	code, said, err := w.raw(t.Context(), fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"message/send","params":{`+
		`"configuration":{"pushNotificationConfig":{"url":%q}},"metadata":{%s},`+
		`"message":{"kind":"message","role":"user","messageId":%q,"parts":[{"kind":"text","text":%q}]}}}`, url, metadata, id, text))
	if err != nil || code != http.StatusOK {
		t.Fatal(code, said, err)
	}
	return said
}

// TestReceiversOfAPeerThatHang hold the user's notifications no longer than the user's own
// would, and a peer is told when as many wait as may.
func TestReceiversOfAPeerThatHang(t *testing.T) {
	longtest.Mark(t)
	got := make(chan string, 100)
	mine := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- string(body)
	}))
	t.Cleanup(mine.Close)
	var hang []string
	for range 40 {
		hang = append(hang, answersNobody(t).URL)
	}
	w := startWorkspace(t, "RUNTIME_ALLOW_NETWORKS=127.0.0.0/8")
	refused := false
	for i := 0; i < 2000 && !refused; i++ {
		said := w.sendTold(t, fmt.Sprint("p", i), "/status", hang[i%len(hang)]+"/x", `"source_workspace_id":"peer-9"`)
		refused = strings.Contains(said, "too many push notifications wait for their receivers")
	}
	if !refused {
		t.Error("2000 messages of the peer, each with a receiver, were taken")
	}
	if said := w.sendTold(t, "u1", "say hi", mine.URL+"/x", `"source":"canvas_user"`); !strings.Contains(said, "hi") {
		t.Errorf("the user is told %s", said)
	}
	for range 2 { // that it works, and that it has ended
		select {
		case <-got:
		case <-time.After(time.Minute):
			t.Fatal("the user's receiver has not been told in a minute")
		}
	}
}
