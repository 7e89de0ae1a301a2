package doctor

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/stayhttp"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

// port checks that the runtime could listen, or does so already: doctor is
// also run beside a runtime that serves.
func port(addr string) preflight.Check {
	free := preflight.Port(addr)
	return preflight.Check{Name: free.Name, Run: func(ctx context.Context) preflight.Result {
		r := free.Run(ctx)
		if r.Status == preflight.Fail && serves(ctx, addr) {
			return preflight.Result{Status: preflight.OK, Detail: addr + " is in use, by a runtime that serves there"}
		}
		return r
	}}
}

// serves reports whether a runtime answers at the address it would listen on.
func serves(ctx context.Context, addr string) bool {
	host, portNumber, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return healthy(ctx, "http://"+net.JoinHostPort(host, portNumber), nil) // no proxy: it is this machine
}

// healthy reports whether a runtime answers at a URL.
func healthy(ctx context.Context, at string, proxy func(*http.Request) (*url.URL, error)) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at+"/healthz", nil)
	if err != nil {
		return false
	}
	client := &http.Client{Transport: stayhttp.Transport{Via: &http.Transport{DisableKeepAlives: true, Proxy: proxy}}}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 16))
	return err == nil && resp.StatusCode == http.StatusOK && string(body) == "ok\n"
}

// runtimeCheck looks for the runtime that codex_bridge gives tasks to.
func runtimeCheck(at string) preflight.Check {
	return preflight.Check{Name: "runtime", Run: func(ctx context.Context) preflight.Result {
		if healthy(ctx, strings.TrimRight(at, "/"), http.ProxyFromEnvironment) {
			return preflight.Result{Status: preflight.OK, Detail: "a runtime answers at " + at}
		}
		return preflight.Result{
			Status: preflight.Warn, Detail: "no runtime answers at " + at + ": codex_bridge has none to give tasks to",
			Fix: "start one, or set RUNTIME_URL; where none is wanted, have the MCP host leave codex_bridge out (disabled_tools)",
		}
	}}
}
