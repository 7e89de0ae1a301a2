package machine

import (
	"crypto/tls"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/Molecule-AI/molecule-codex-runtime/machine/identity"
)

// TestPatience finds the socket below a connection, which waits no longer than it is told to.
func TestPatience(t *testing.T) {
	id, err := identity.Open(identity.Config{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan int, 1)
	s, err := listen(t.Context(), "127.0.0.1:0", id.Cert, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		patience(r.Context(), 4*time.Second)
		socket := socketOf(r.Context())
		if socket == nil {
			got <- -1
			return
		}
		raw, err := socket.SyscallConn()
		if err != nil {
			got <- -2
			return
		}
		_ = raw.Control(func(fd uintptr) {
			ms, _ := unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT)
			got <- ms
		})
	}), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13}}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+s.addr, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if ms := <-got; ms != 4000 {
		t.Errorf("%d ms", ms)
	}
	old := &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12}
	if conn, err := (&tls.Dialer{Config: old}).DialContext(t.Context(), "tcp", s.addr); err == nil {
		_ = conn.Close()
		t.Error("an older TLS is taken")
	}
}
