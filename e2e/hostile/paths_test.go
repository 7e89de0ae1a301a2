package hostile

import (
	"fmt"
	"strings"
	"testing"
)

// A trick is a request for a route under a target, a method or with a header that a router
// and the check of the credential might read in two ways.
type trick struct {
	name   string
	target string
	method string
	header []string
}

// tricks are those on one route's method and path.
func tricks(method, path string) (rows []trick) {
	add := func(path string) { rows = append(rows, trick{target: path}) }
	bare, query, has := strings.Cut(path, "?")
	if has {
		query = "?" + query
	}
	for _, prefix := range []string{
		"/", "//", "/./", "/x/../", "/x/%2e%2e/", "/%2e/", "/%2E%2E/", "/..;/", "/;/", "/;x=1/", "/%2f", "/%2f/", "/%5c", `/\`, "/healthz/..", "/healthz/../", "/healthz/%2e%2e", "/console/../", "/console/static/..", "/console/static/../..", "/console/static/%2e%2e/%2e%2e",
		"/files/x/../..", "/files/x/x/../../..", "/.well-known/agent-card.json/..", "/.well-known/agent-card.json/../..", "/readyz;/..", "/a2a/..", "/tenant", "/tenant/x", "/healthz", "/.well-known", "/console", "/files", "/%00", "/%0a", "/%20", "/\t",
		"http://ADDR", "HTTP://ADDR", "http://x@ADDR", "http://ADDR:80", "//ADDR", "http:", "http://", "https://ADDR/x/..", "file://", "*",
	} {
		add(prefix + bare + query)
		if strings.HasSuffix(prefix, "/") && !strings.HasSuffix(prefix, "://") { // it would be a host
			add(prefix + strings.TrimPrefix(bare, "/") + query)
		}
	}
	for _, suffix := range []string{"/", "//", "/.", "/..", "/x/..", ".", "..", "...", ";", ";x", ";/healthz", "%3b", "%2f", "%2F", "%5c", "%00", "%20", "%09", "%0a", "%23", "%3f", "#", "#/healthz", ".json", ".css", "/healthz", "/.well-known/agent-card.json", "~", "%", "%zz", "%c0%af", "%252f", "%ff", "\x80"} {
		add(bare + suffix + query)
	}
	add(strings.ToUpper(bare) + query)
	if last := bare[len(bare)-1]; last != '/' {
		add(fmt.Sprintf("%s%%%02x%s", bare[:len(bare)-1], last, query))
		add(fmt.Sprintf("%s%%25%02x%s", bare[:len(bare)-1], last, query))
		add("/" + strings.ReplaceAll(bare[1:], "/", "%2f") + query)
		add(strings.ReplaceAll(bare, "/", "//") + query)
		add(strings.ReplaceAll(bare, "/", `\`) + query)
		add(strings.ReplaceAll(bare, "/", "/./") + query)
		add(strings.ReplaceAll(bare, "/", "/;a=b/") + query)
	}
	for _, as := range []string{strings.ToLower(method), strings.Title(strings.ToLower(method)), "HEAD", "OPTIONS", "CONNECT", "TRACE", "X-" + method} { //nolint:staticcheck // ASCII
		rows = append(rows, trick{target: path, method: as, header: []string{"X-HTTP-Method-Override: " + method, "X-HTTP-Method: " + method, "X-Method-Override: " + method}})
	}
	for _, open := range []string{"/healthz", "/.well-known/agent-card.json", "/console/static/app.css", "/nothing"} {
		for _, header := range []string{"X-Original-URL: ", "X-Rewrite-URL: ", "X-Forwarded-Uri: ", "X-Forwarded-Prefix: ", "X-Original-Uri: ", "Referer: http://ADDR", "Content-Location: "} {
			rows = append(rows, trick{target: open, header: []string{header + path}}, trick{target: path, header: []string{header + open}})
		}
		rows = append(rows, trick{target: open + "?" + bare + query}, trick{target: open + "?_method=" + method + "&path=" + path})
	}
	for _, header := range []string{"X-Forwarded-For: 127.0.0.1", "X-Real-IP: 127.0.0.1", "Forwarded: for=127.0.0.1", "X-Remote-User: admin", "X-Authenticated: true", "Connection: Authorization", "X-Workspace-ID: " + theWorkspace} {
		rows = append(rows, trick{target: path, header: []string{header}})
	}
	for i := range rows {
		rows[i].name = fmt.Sprintf("%s %.80q %.60q", rows[i].method, rows[i].target, rows[i].header)
	}
	return rows
}

// paths tries all tricks on every route that asks for a credential, without one.
func (x *world) paths(t *testing.T, nth int) {
	type row struct {
		route
		trick
	}
	var rows []row
	for _, r := range table() {
		if x.lets(r, "") {
			continue
		}
		c := r.call(x, "MARK")
		for _, tried := range tricks(c.method, c.path) {
			rows = append(rows, row{r, tried})
		}
	}
	if len(rows) == 0 {
		t.Fatal("no route asks for a credential")
	}
	open := map[string]bool{} // what everyone is told
	for _, r := range table() {
		if r.method() == "GET" && x.lets(r, "") && !r.head {
			open[x.send(r.call(x, "")).body] = true
		}
	}
	atOnce(some(rows, nth), func(row row) {
		mark := x.mark()
		fill := strings.NewReplacer("MARK", mark, "ADDR", x.addr())
		c := row.call(x, mark)
		c.path, c.head = fill.Replace(row.target), false
		if row.trick.method != "" {
			c.method = row.trick.method
		}
		for _, line := range row.trick.header {
			c.header = append(c.header, fill.Replace(line))
		}
		what := fmt.Sprintf("%s by %s", row.pattern, row.name)
		got := x.send(c)
		serving(t, what, got)
		clean(t, what, got)
		if got.status < 300 && !open[got.body] && c.method != "HEAD" {
			t.Errorf("%s: %s", what, got)
		}
	})
	x.unharmed(t)
}
