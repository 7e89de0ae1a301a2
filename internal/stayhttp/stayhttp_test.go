package stayhttp_test

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/stayhttp"
)

// TestSwitched has a server leave HTTP and wait: the client has an error, and ends the connection.
func TestSwitched(t *testing.T) {
	ended := make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = conn.Write([]byte("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"))
		_, err = conn.Read(make([]byte, 1))
		ended <- err
	}))
	defer server.Close()
	transport := stayhttp.Transport{Via: &http.Transport{}}
	client := &http.Client{Transport: transport}
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Do(req)
	if err == nil {
		res.Body.Close()
	}
	if !errors.Is(err, stayhttp.ErrSwitched) {
		t.Errorf("asked: %v", err)
	}
	if err := <-ended; err == nil || errors.Is(err, net.ErrClosed) {
		t.Errorf("the connection ends with %v", err)
	}
}

// TestOthers has other answers as they are.
func TestOthers(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	defer server.Close()
	client := &http.Client{Transport: stayhttp.Transport{Via: http.DefaultTransport}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusTeapot {
		t.Errorf("status %d", res.StatusCode)
	}
	client.CloseIdleConnections()
}
