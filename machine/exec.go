package machine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/machine/tenancy"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// execTime is how long a WebSocket waits for an exec-server that is being started.
const execTime = 15 * time.Second

// exec carries a WebSocket to the exec-server of a runtime. The exec-server takes it, or refuses it; its bytes are not
// looked at, and nothing is waited for beside it.
func (f *front) exec(w http.ResponseWriter, r *http.Request, stay *tenancy.Stay) error {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") || r.Header.Get("Sec-Websocket-Key") == "" {
		return errInvalid("this is for a WebSocket alone")
	}
	ctx, cancel := context.WithTimeoutCause(r.Context(), execTime, tenancy.TroubleError("codex exec-server is not ready on this machine"))
	defer cancel()
	to, err := stay.Work().Exec(ctx)
	if err != nil {
		return tenancy.TroubleError(fmt.Sprintf("codex exec-server does not run on this machine: %v", err))
	}
	var dialer net.Dialer
	server, err := dialer.DialContext(ctx, "tcp", to.Addr)
	if err != nil {
		return tenancy.TroubleError(fmt.Sprintf("codex exec-server is not reached on this machine: %v", err))
	}
	defer server.Close()
	if _, err := io.WriteString(server, upgrade(r, to)); err != nil {
		return tenancy.TroubleError(fmt.Sprintf("codex exec-server is not reached on this machine: %v", err))
	}
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return err
	}
	defer client.Close()
	_ = client.SetDeadline(time.Time{})
	f.carry(stay.Context(), below(client), buffered.Reader, named(server, fmt.Sprintf("%s: %s\r\n", wire.HeaderExec, wire.ExecOf(f.about.fixed.Life, to.Number))))
	return nil
}

// named has the answer of an exec-server say which one it is, behind its first line.
func named(server net.Conn, header string) net.Conn {
	return &naming{Conn: server, answer: bufio.NewReader(server), header: header}
}

type naming struct {
	net.Conn
	answer *bufio.Reader
	header string // that is to be said yet
	ahead  []byte
}

func (n *naming) Read(p []byte) (int, error) {
	if n.header != "" {
		line, err := n.answer.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		n.ahead, n.header = append(append([]byte{}, line...), n.header...), ""
	}
	if len(n.ahead) > 0 {
		copied := copy(p, n.ahead)
		n.ahead = n.ahead[copied:]
		return copied, nil
	}
	return n.answer.Read(p)
}

// upgrade is the request by which an exec-server is asked for a WebSocket.
func upgrade(r *http.Request, to tenancy.Exec) string {
	var b strings.Builder
	fmt.Fprintf(&b, "GET / HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n", to.Addr, to.Token)
	for _, name := range []string{"Sec-Websocket-Key", "Sec-Websocket-Version", "Sec-Websocket-Protocol", "Sec-Websocket-Extensions"} {
		for _, value := range r.Header.Values(name) {
			fmt.Fprintf(&b, "%s: %s\r\n", name, value)
		}
	}
	return b.String() + "\r\n"
}

// carry copies both ways until one side ends, or ctx does.
func (f *front) carry(ctx context.Context, client net.Conn, ahead *bufio.Reader, server net.Conn) {
	part := func() {
		_ = client.Close()
		_ = server.Close()
	}
	defer context.AfterFunc(ctx, part)()
	f.metrics.connections.Inc()
	defer f.metrics.connections.Dec()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		defer part()
		_, err := io.CopyN(counting{server, f.metrics.toExec}, ahead, int64(ahead.Buffered()))
		if err == nil || errors.Is(err, io.EOF) {
			_, _ = io.Copy(counting{server, f.metrics.toExec}, client)
		}
	}()
	_, _ = io.Copy(counting{client, f.metrics.fromExec}, server)
	part()
	<-sent
}

// counting counts what is written.
type counting struct {
	io.Writer
	count interface{ Add(float64) }
}

func (c counting) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.count.Add(float64(n))
	return n, err
}
