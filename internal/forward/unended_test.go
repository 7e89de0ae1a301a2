package forward

import (
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
)

// frame is the beginning of a frame, and as much of its payload as there is.
func frame(first byte, length uint16, payload string) string {
	return string(binary.BigEndian.AppendUint16([]byte{first, 126}, length)) + payload
}

// TestCutMessages has the connection of an endpoint end within a message, where a library reads no
// more than an end: it is not handed on as whole.
func TestCutMessages(t *testing.T) {
	const text, final = 1, 0x80
	for name, bytes := range map[string]string{
		"between fragments": frame(text, 5, `{"typ`), "behind a frame's header": frame(final|text, 500, ""),
		"between long fragments": frame(text, 40_000, strings.Repeat("x", 40_000)),
		"at the end of a piece":  frame(final|text, 40_000, strings.Repeat("x", laneBytes)),
	} {
		t.Run(name, func(t *testing.T) {
			url := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
				taken := &hijacked{ResponseWriter: w}
				if _, err := websocket.Accept(taken, r, nil); err == nil {
					_, _ = io.WriteString(taken.conn, bytes)
					_ = taken.conn.Close()
				}
			})
			f, _ := start(t)
			got, err := hearOn(t, renewed(t, f, url).open(t))
			if err == nil || websocket.CloseStatus(err) != websocket.StatusGoingAway {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
}

// TestCodexStopsWithinTheCloseHandshake has an endpoint close, and codex begin a message and stop: the
// library's close handshake reads on without an end.
func TestCodexStopsWithinTheCloseHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		_, codex := pairOn(t, near, far, nil)
		ours, endpoint := pair(t)
		f := &Forwarder{log: slog.New(slog.DiscardHandler), tell: func(Call) {}}
		r := f.relay(codex, ours, destination{secret: newSecret(key), sockets: &experience{}, url: mustParse("https://endpoint.example/v1")}, Call{})
		r.cut = far.Close
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			r.run(t.Context())
		}()
		go func() { _, _ = io.Copy(io.Discard, near) }()
		go func() { _ = endpoint.Close(websocket.StatusNormalClosure, "") }()
		synctest.Wait()
		const final, text, masked = 0x80, 1, 0x80
		_, _ = near.Write([]byte{final | text, masked | 100, 1, 2, 3, 4})
		began := time.Now()
		<-ended
		if lasts := time.Since(began); lasts > stalledTime+2*pingEvery {
			t.Errorf("it lasts for %v", lasts)
		}
		_ = near.Close()
	})
}
