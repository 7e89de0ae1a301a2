package hostile

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A knock is how a request names the host that it is for, and the page that it comes from.
// PORT is the program's, and ADDR its address.
type knock struct {
	name   string
	host   string // as in [call]
	header []string
	target string // what stands before the path: an absolute form
	old    bool   // HTTP/1.0
	opens  bool
}

// foreignHosts are names that a page can make a browser call us by, or that look like ours.
func foreignHosts() (rows []knock) {
	for _, host := range []string{
		"evil.example", "evil.example:PORT", "EVIL.example.", "localhost.evil.example", "127.0.0.1.evil.example:PORT", "notlocalhost",
		"localhost@evil.example", "evil.example@localhost", "user:pass@localhost:PORT", "localhost:PORT@evil.example", "localhost,evil.example",
		"localhost#evil.example", "localhost/evil.example", "localhost?evil.example", `localhost\evil.example`, "localhost..", ".localhost.evil.example",
		"8.8.8.8", "10.0.0.1:PORT", "169.254.169.254", "[::ffff:8.8.8.8]", "[fe80::1]:PORT", "[2001:db8::1]", "[::ffff:0:127.0.0.1]",
		"0.0.0.0", "0.0.0.0:PORT", "[::]:PORT", "[::ffff:0:0]:PORT", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]:PORT", // browsers do not say there which page asks
		"2130706433", "0x7f000001", "0177.0.0.1", "127.1", "%6cocalhost", "ｌocalhost", "localhost:PORT:PORT",
		":PORT", "[]", "::1:PORT", "metadata.google.internal", "xn--localhost-.example", "localhost\tevil", "localhost evil.example",
		strings.Repeat("a.", 4000) + "localhost.example",
	} {
		rows = append(rows, knock{name: "host " + host, host: host})
	}
	return append(rows,
		knock{name: "no host", host: "-"},
		knock{name: "an empty host", host: "-", header: []string{"Host:"}},
		knock{name: "two hosts", host: "ADDR", header: []string{"Host: evil.example"}},
		knock{name: "two hosts, the other first", host: "evil.example", header: []string{"Host: ADDR"}},
		knock{name: "absolute form", host: "ADDR", target: "http://evil.example"},
		knock{name: "absolute form with a user", host: "ADDR", target: "http://localhost:PORT@evil.example"},
		knock{name: "absolute form of another scheme", host: "ADDR", target: "https://evil.example:PORT"},
		knock{name: "folded", host: "-", header: []string{"Host:\r\n evil.example"}},
	)
}

// ownHosts are names of this machine, which no page can take.
func ownHosts() (rows []knock) {
	for _, host := range []string{
		"localhost", "LocalHost:PORT", "localhost.", "codex.localhost:1", "127.0.0.1", "127.0.0.2:PORT", "[::1]:PORT",
	} {
		rows = append(rows, knock{name: "host " + host, host: host, opens: true})
	}
	return rows
}

// foreignPages are pages of others that call us by our own name.
func foreignPages() (rows []knock) {
	for _, origin := range []string{
		"null", "NULL", "https://evil.example", "http://evil.example:PORT", "http://localhost.evil.example:PORT", "http://ADDR.evil.example",
		"http://127.0.0.1", "http://127.0.0.1:1", "http://localhost:1", "http://[::1]:PORT", "http://evil.example@ADDR.evil.example", "file://", "data:", "about:blank",
		"chrome-extension://abcdefghijklmnop", "ws://ADDR", "ftp://ADDR", "//ADDR", "ADDR", "http://ADDR, https://evil.example", "https://evil.example http://ADDR",
		"http://127.0.0.1:0PORT", "*", "http://", "http://%41DDR", "javascript:alert(1)", "http://ADDR\\@evil.example", "http://2130706433:PORT",
	} {
		rows = append(rows, knock{name: "origin " + origin, header: []string{"Origin: " + origin}})
	}
	return append(rows, knock{name: "two origins", header: []string{"Origin: https://evil.example", "Origin: http://ADDR"}})
}

// A door is a request that tells or does something, by a page's visitor or a rebound name.
type door struct {
	name   string
	call   call
	secret string // that stands in the answer if it is let in
}

// doorsOf are those that strangers would go through.
func (x *world) doorsOf(named ...string) []door {
	media := "Content-Type: application/json"
	ours := x.ours("").header[1:]
	all := []door{
		{"tasks", call{method: "GET", path: "/tasks?includeArtifacts=true&historyLength=9", header: ours}, theWords},
		{"a task", call{method: "GET", path: "/tasks/" + x.task, header: ours}, theWords},
		{"the other version's", call{method: "GET", path: "/v1/tasks/" + x.task, header: ours}, theWords},
		{"metrics", call{method: "GET", path: "/metrics", header: ours}, "go_goroutines"},
		{"readiness", call{method: "GET", path: "/readyz", header: ours}, `"checks"`},
		{"a message", call{method: "POST", path: "/", header: append(ours, media), body: callV1}, `"task"`},
		{"a message of a form", call{method: "POST", path: "/", header: append(ours, "Content-Type: text/plain"), body: callV0}, `"result"`},
		{"REST", call{method: "POST", path: "/message:send", header: append(ours, media), body: sendV1}, `"task"`},
		{"REST of 0.3", call{method: "POST", path: "/v1/message:send", header: append(ours, media), body: sendV0}, `"task"`},
		{"the console", call{method: "GET", path: "/console/api/state", header: x.session()}, `"queue"`},
		{"the console's messages", call{method: "POST", path: "/console/api/a2a", header: append(x.session(), media, "X-Console: 1"), body: callV1}, `"task"`},
		{"the console's events", call{method: "GET", path: "/console/api/events", header: x.session(), head: true}, "text/event-stream"},
	}
	return slices.DeleteFunc(all, func(d door) bool {
		return len(named) > 0 && !slices.ContainsFunc(named, func(name string) bool { return strings.Contains(d.name, name) })
	})
}

// session is the header of a browser that has logged in.
func (x *world) session() []string {
	if x.cookie == "" {
		return nil
	}
	return []string{"Cookie: " + x.cookie, "X-Console-Key: " + x.key}
}

// knock has a stranger at each of the doors.
func (x *world) knock(t *testing.T, doors []door, rows []knock) {
	t.Helper()
	atOnce(rows, func(row knock) {
		for _, d := range doors {
			x.tryDoor(t, d, row)
		}
	})
}

func (x *world) tryDoor(t *testing.T, d door, row knock) {
	what := fmt.Sprintf("%s, %.80q", d.name, row.name)
	mark := "granted-" + strings.ReplaceAll(d.name, " ", "-")
	if !row.opens {
		mark = x.mark()
	}
	fill := strings.NewReplacer("PORT", x.port(), "ADDR", x.addr(), "MARK", mark)
	c := d.call
	c.host, c.path, c.body = fill.Replace(row.host), fill.Replace(row.target)+c.path, fill.Replace(c.body)
	c.header = slices.Clone(c.header)
	if row.old {
		c.version = "HTTP/1.0"
	}
	for _, line := range row.header {
		c.header = append(c.header, fill.Replace(line))
	}
	got := x.send(c)
	serving(t, what, got)
	in := got.status == 200 && strings.Contains(got.whole(), d.secret)
	switch {
	case row.opens && !in && d.name != "a message of a form": // which is refused for its form
		t.Errorf("%s: shut out: %s", what, got)
	case !row.opens:
		clean(t, what, got)
		if in || !slices.Contains([]int{400, 401, 403, 415, 421, 429, 431}, got.status) && d.name != "readiness" {
			t.Errorf("%s: let in: %s", what, got)
		}
		if got.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: can be read by another page", what)
		}
	}
}

// hosts has foreign names and pages at the doors. Where a token is asked for, it is that
// which keeps a rebound name out.
func (x *world) hosts(t *testing.T) {
	rows := some(foreignPages(), 2)
	if x.token == "" {
		rows = slices.Concat(rows, some(foreignHosts(), 2), some(ownHosts(), 4))
	}
	x.knock(t, x.doorsOf(), slices.Concat(rows, some(sites(), 2)))
	if x.token == "" {
		x.knock(t, x.doorsOf("metrics", "readiness", "console"), proxies())
	}
	x.unharmed(t)
}
