package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/crowd"
	"github.com/Molecule-AI/molecule-codex-runtime/server"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// controlFile is the socket in the state directory by which other commands reach a
// channel that runs: the state is its own while it does.
const controlFile = "channel.sock"

// listen opens the channel's two doors: the socket, and the health listener if there is
// to be one.
func (box *inbox) listen(health net.Listener, base base) error {
	path, done, err := socketPath(box.s.StateDir)
	if err != nil {
		return err
	}
	defer done()
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) { // of one that was killed: the state is ours
		return fmt.Errorf("the channel's socket: %w", err)
	}
	ln, err := listenPrivately(path)
	if err != nil {
		return fmt.Errorf("the channel's socket: %w", err)
	}
	box.closers = append(box.closers, serveOn(ln, box.control(), box.log))
	if health == nil {
		return nil
	}
	probes, err := server.Probes(server.Config{
		PublicURL: box.s.PublicURL, Token: box.s.Token.Reveal(), AnyHost: anyHost(box.s), Refusals: base.refusals,
		Ready: box.ready.Get, Registry: base.registry, Metrics: base.metrics, Logger: box.log,
	})
	if err != nil {
		return err
	}
	box.closers = append(box.closers, serveOn(health, probes, box.log))
	box.log.Info("listening", "addr", health.Addr().String(), "version", version, "codex_user", userNote(box.s.User))
	return nil
}

// listenPrivately listens on a socket that is its owner's only, whatever files are made
// for by default, and also where others may enter its directory.
func listenPrivately(path string) (net.Listener, error) {
	config := net.ListenConfig{Control: private}
	ln, err := config.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return ln, nil
}

// private takes the rights of others from a socket before it has a file: Linux gives that
// the rights of the descriptor. Elsewhere this does nothing, and until the file's are
// changed the directory keeps others out.
func private(_, _ string, socket syscall.RawConn) error {
	return socket.Control(func(fd uintptr) { _ = syscall.Fchmod(int(fd), 0o600) })
}

// mostProbes is how many connections each of the channel's doors has.
const mostProbes = 64

// A doorServer serves until it is closed.
type doorServer struct {
	server *http.Server
	served chan struct{}
}

func serveOn(ln net.Listener, handler http.Handler, log *slog.Logger) doorServer {
	d := doorServer{&http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}, make(chan struct{})}
	ln = crowd.Bound(d.server, ln, mostProbes, log)
	go func() {
		defer close(d.served)
		_ = d.server.Serve(ln)
	}()
	return d
}

// Close ends it.
func (d doorServer) Close() error {
	err := d.server.Close()
	<-d.served
	return err
}

// control is for the commands of whoever may read the state directory.
func (box *inbox) control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /dead", func(w http.ResponseWriter, r *http.Request) {
		letters, err := channel.Letters(r.Context(), box.store)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(letters)
	})
	mux.HandleFunc("POST /dead/retry", func(w http.ResponseWriter, r *http.Request) {
		switch err := box.channel.Retry(r.Context(), r.URL.Query().Get("id")); {
		case errors.Is(err, store.ErrUnknown):
			http.Error(w, "", http.StatusNotFound)
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	return mux
}

// longestSocket is how long the path of a socket may be.
const longestSocket = 100

// socketPath returns a path of the socket that is short enough, and what lets go of it.
func socketPath(dir string) (path string, done func(), err error) {
	path = filepath.Join(dir, controlFile)
	if len(path) <= longestSocket {
		return path, func() {}, nil
	}
	open, err := os.Open(dir)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", open.Fd(), controlFile), func() { _ = open.Close() }, nil
}

// errNoChannel says that no channel runs on a state directory.
var errNoChannel = errors.New("no channel runs there")

// askChannel asks the channel that runs on a state directory.
func askChannel(ctx context.Context, dir, method, target string) (status int, body []byte, err error) {
	path, done, err := socketPath(dir)
	if err != nil {
		return 0, nil, errNoChannel
	}
	defer done()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}, Timeout: 10 * time.Second}
	req, err := http.NewRequestWithContext(ctx, method, "http://channel"+target, strings.NewReader(""))
	if err != nil {
		return 0, nil, err
	}
	res, err := client.Do(req)
	if err != nil {
		return 0, nil, fmt.Errorf("%w: %w", errNoChannel, err)
	}
	defer res.Body.Close()
	body, err = readAll(res.Body)
	return res.StatusCode, body, err
}
