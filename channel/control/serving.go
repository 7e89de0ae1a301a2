package control

import (
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/crowd"
)

// mostProbes is how many connections each of the channel's doors has.
const mostProbes = 64

// A Serving serves until it is closed.
type Serving struct {
	server *http.Server
	served chan struct{}
}

// Serve begins to serve on a listener of few connections.
func Serve(ln net.Listener, handler http.Handler, log *slog.Logger) Serving {
	d := Serving{&http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}, make(chan struct{})}
	ln = crowd.Bound(d.server, ln, mostProbes, log)
	go func() {
		defer close(d.served)
		_ = d.server.Serve(ln)
	}()
	return d
}

// Close ends it.
func (d Serving) Close() error {
	err := d.server.Close()
	<-d.served
	return err
}
