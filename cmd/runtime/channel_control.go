package main

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/server"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// controlFile is the socket in the state directory by which other commands reach a
// channel that runs: the state is its own while it does.
const controlFile = "channel.sock"

// listen opens the channel's two doors: the socket, and the health listener if there is
// to be one.
func (box *inbox) listen(health net.Listener, registry *prometheus.Registry) error {
	path, done, err := socketPath(box.s.StateDir)
	if err != nil {
		return err
	}
	defer done()
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) { // of one that was killed: the state is ours
		return fmt.Errorf("the channel's socket: %w", err)
	}
	ln, err := (&net.ListenConfig{}).Listen(context.Background(), "unix", path)
	if err != nil {
		return fmt.Errorf("the channel's socket: %w", err)
	}
	box.closers = append(box.closers, serveOn(ln, box.control()))
	if health == nil {
		return nil
	}
	box.closers = append(box.closers, serveOn(health, box.health(registry)))
	box.log.Info("listening", "addr", health.Addr().String(), "version", version)
	return nil
}

// A doorServer serves until it is closed.
type doorServer struct {
	server *http.Server
	served chan struct{}
}

func serveOn(ln net.Listener, handler http.Handler) doorServer {
	d := doorServer{&http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute}, make(chan struct{})}
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

// health is what probes ask.
func (box *inbox) health(registry *prometheus.Registry) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
		defer cancel()
		state := box.ready.get(ctx)
		if !box.mayRead(r) {
			state = server.Readiness{OK: state.OK}
		}
		w.Header().Set("Content-Type", "application/json")
		if !state.OK {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_ = json.NewEncoder(w).Encode(state)
	})
	metrics := promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		if !box.mayRead(r) {
			http.Error(w, "show RUNTIME_TOKEN as a bearer token", http.StatusUnauthorized)
			return
		}
		metrics.ServeHTTP(w, r)
	})
	return mux
}

// mayRead reports whether whoever asks may see more than whether all is well.
func (box *inbox) mayRead(r *http.Request) bool {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return !box.s.Token.Set() || subtle.ConstantTimeCompare([]byte(token), []byte(box.s.Token.Reveal())) == 1
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

// ask asks the channel that runs on a state directory.
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
