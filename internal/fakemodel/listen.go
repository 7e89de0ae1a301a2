package fakemodel

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// A Running is a server on a loopback port of its own. Start it with [Listen].
type Running struct {
	server *Server
	http   *http.Server
	url    string
	cancel context.CancelFunc // ends the contexts of the requests
	served chan error         // 1-buffered; told once when the listener is closed
}

// Listen serves script on a loopback port that the system picks, until
// [Running.Close]. It records nothing.
func Listen(script Script) (*Running, error) { return listen(newServer(script, 0)) }

// Serve is [Listen] for a server made by [New].
func Serve(server *Server) (*Running, error) { return listen(server) }

func listen(server *Server) (*Running, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the scripted model: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &Running{
		server: server,
		http: &http.Server{
			Handler:           server,
			BaseContext:       func(net.Listener) context.Context { return ctx },
			ReadHeaderTimeout: 10 * time.Second,
		},
		url:    "http://" + listener.Addr().String(),
		cancel: cancel,
		served: make(chan error, 1),
	}
	go func() { r.served <- r.http.Serve(listener) }()
	return r, nil
}

// URL is where it listens, without a path: http://127.0.0.1:PORT.
func (r *Running) URL() string { return r.url }

// BaseURL is the base_url of a codex provider: [Running.URL] and /v1.
func (r *Running) BaseURL() string { return r.url + "/v1" }

// Close stops listening, ends the requests that are open and waits for them,
// at most until ctx ends. It must be called once.
func (r *Running) Close(ctx context.Context) error {
	r.cancel()
	err := r.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, r.http.Close())
	}
	if served := <-r.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	if err != nil {
		return fmt.Errorf("close the scripted model: %w", err)
	}
	return nil
}
