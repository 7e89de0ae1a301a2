package hostile

import (
	"slices"
	"strings"
	"testing"
)

// sites are requests of which the browser itself says that another page makes them.
func sites() (rows []knock) {
	for _, site := range []string{"cross-site", "same-site", "Cross-Site", "anything", "same-origin, cross-site"} {
		for _, mode := range []string{"no-cors", "cors", "navigate", "websocket"} {
			rows = append(rows, knock{name: "site " + site + " " + mode, header: []string{"Sec-Fetch-Site: " + site, "Sec-Fetch-Mode: " + mode, "Sec-Fetch-Dest: empty"}})
		}
	}
	return rows
}

// proxies are requests that a proxy of this machine hands on: its callers may be anybody.
func proxies() (rows []knock) {
	for _, line := range []string{
		"X-Forwarded-For: 127.0.0.1", "Forwarded: for=127.0.0.1", "X-Real-IP: 192.0.2.1", "Via: 1.1 proxy", "X-Forwarded-Host: evil.example", "X-Forwarded-Proto: https", "Cf-Connecting-Ip: 192.0.2.1",
		"Cf-Ray: 1", "True-Client-Ip: 192.0.2.1", "X-Envoy-Attempt-Count: 1", "x-forwarded-for:",
	} {
		rows = append(rows, knock{name: "proxy " + line, header: []string{line}})
	}
	return append(rows, knock{name: "a proxy that speaks HTTP/1.0", old: true})
}

// rebound are requests of a page whose name leads to us by now: to its browser it is our
// own page, and may read what we answer.
func rebound() (rows []knock) {
	for _, row := range foreignHosts() {
		if strings.Contains(row.host, "example") && !strings.ContainsAny(row.host, "\t @,#/?\\") {
			rows = append(rows, row)
		}
	}
	return rows
}

// reboundPages has such pages at a workspace, which its platform may call by any name.
func (x *world) reboundPages(t *testing.T) {
	x.knock(t, x.doorsOf("task", "version", "metrics", "readiness", "console"), some(rebound(), 2))
	var told []knock
	for _, row := range rebound()[:2] {
		for _, line := range []string{"Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: none", "Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: empty", "Sec-Fetch-User: ?1", "Origin: http://evil.example:PORT", "Origin: http://evil.example", "Origin: null"} {
			told = append(told, knock{name: row.name + ", " + line, host: row.host, header: []string{line}})
		}
	}
	x.knock(t, x.doorsOf(), slices.Concat(told, some(foreignPages(), 3), some(sites(), 2)))
	x.knock(t, x.doorsOf("metrics", "readiness", "console"), proxies())
	x.unharmed(t)
}
