package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

// doctor runs all checks and reports. Its exit code is 0 only if a turn would run.
func (p *program) doctor(ctx context.Context, asJSON bool) int {
	s, warnings, ok := p.load()
	if !ok {
		return exitUsage
	}
	for _, w := range warnings {
		p.complain(w.Text, "correct "+w.Name+", or unset it")
	}
	report := examine(ctx, s, p.environ)
	if asJSON {
		if code := p.printJSON(report); code != exitOK {
			return code
		}
	} else if err := report.WriteHuman(p.stdout, logging.IsTerminal(p.stdout)); err != nil {
		return p.fail(err)
	}
	if !report.OK() {
		return exitFailed
	}
	return exitOK
}

// examine runs all checks. The report has no secrets in it.
func examine(ctx context.Context, s settings.Settings, environ []string) preflight.Report {
	all := append(checks(s, environ), accountCheck(s, environ), stateCheck(s.StateDir), port(s.Addr))
	all = slices.Concat(all, platformChecks(s), toolChecks(s, environ))
	return withoutSecrets(preflight.Run(ctx, all...), secretsOf(s, environ))
}

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
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, portNumber)+"/healthz", nil)
	if err != nil {
		return false
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // no proxy: it is this machine
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 16))
	return err == nil && resp.StatusCode == http.StatusOK && string(body) == "ok\n"
}
