package caller

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func request(remote, host string, header ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
	r.RemoteAddr, r.Host = remote, host
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

func TestOfThisMachine(t *testing.T) {
	for name, c := range map[string]struct {
		r    *http.Request
		want bool
	}{
		"localhost":    {request("127.0.0.1:9", "localhost:8000"), true},
		"six":          {request("[::1]:9", "[::1]:8000"), true},
		"from-mapped":  {request("[::ffff:127.0.0.1]:9", "127.0.0.1"), true},
		"below":        {request("127.0.0.1:9", "codex.LOCALHOST.:8000"), true},
		"from-a-log":   {request("127.0.0.1:9", "0.0.0.0:8000"), false},
		"from-a-log6":  {request("[::1]:9", "[::]:8000"), false},
		"to-mapped":    {request("127.0.0.1:9", "[::ffff:7f00:1]:8000"), false},
		"to-mapped-0":  {request("127.0.0.1:9", "[::ffff:0:0]:8000"), false},
		"elsewhere":    {request("192.0.2.1:9", "localhost"), false},
		"no-address":   {request("@", "localhost"), false},
		"rebound":      {request("127.0.0.1:9", "evil.example:8000"), false},
		"looks-local":  {request("127.0.0.1:9", "localhost.evil.example"), false},
		"own-address":  {request("127.0.0.1:9", "10.1.2.3:8000"), false},
		"without-name": {request("127.0.0.1:9", ""), false},
	} {
		if got := OfThisMachine(c.r); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestProxied has what proxies are known to send, by which a request from loopback is none
// of this machine's.
func TestProxied(t *testing.T) {
	for _, name := range []string{
		"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port", "Forwarded", "Via", "X-Real-IP", "True-Client-IP",
		"CF-Ray", "Cf-Connecting-Ip", "CF-Visitor", "CDN-Loop", "X-Envoy-Attempt-Count", "X-Envoy-External-Address", "X-Client-IP",
		"X-Cluster-Client-Ip", "Fastly-Client-IP", "Fly-Client-IP", "X-Original-URL", "X-Original-Host", "X-Amzn-Trace-Id", "Tailscale-User-Login",
		"X-Azure-ClientIP", "X-Vercel-Forwarded-For", "Proxy-Connection",
	} {
		r := request("127.0.0.1:9", "localhost", name, "x")
		if !Proxied(r) || OfThisMachine(r) {
			t.Errorf("%s tells nothing", name)
		}
	}
	old := request("127.0.0.1:9", "localhost")
	old.Proto, old.ProtoMinor = "HTTP/1.0", 0
	if !Proxied(old) || OfThisMachine(old) {
		t.Error("HTTP/1.0 tells nothing")
	}
	for _, name := range []string{"Accept", "Authorization", "X-Request-Id", "Traceparent", "X-Console", "Cookie", "Sec-Fetch-Site", "X-Workspace-Id"} {
		if Proxied(request("127.0.0.1:9", "localhost", name, "x")) {
			t.Errorf("%s is taken for a proxy's", name)
		}
	}
}

func TestBrowsers(t *testing.T) {
	for _, c := range []struct {
		site, mode, dest           string
		browser, other, isFollowed bool
	}{
		{"", "", "", false, false, false},
		{"same-origin", "cors", "empty", true, false, false},
		{"none", "navigate", "document", true, false, true},
		{"cross-site", "navigate", "document", true, true, true},
		{"cross-site", "navigate", "iframe", true, true, false},
		{"cross-site", "no-cors", "image", true, true, false},
		{"same-site", "cors", "empty", true, true, false},
		{"anything", "", "", true, true, false},
	} {
		r := request("127.0.0.1:9", "localhost")
		for name, value := range map[string]string{"Sec-Fetch-Site": c.site, "Sec-Fetch-Mode": c.mode, "Sec-Fetch-Dest": c.dest} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		if Browser(r) != c.browser || OtherPage(r) != c.other || Followed(r) != c.isFollowed {
			t.Errorf("%s %s %s: %v %v %v", c.site, c.mode, c.dest, Browser(r), OtherPage(r), Followed(r))
		}
		if r.Method = http.MethodPost; Followed(r) {
			t.Errorf("%s %s %s: a form is no link", c.site, c.mode, c.dest)
		}
	}
}

func TestNetwork(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.1:9": "192.0.2.1/32", "[::ffff:192.0.2.1]:9": "192.0.2.1/32", "[2001:db8:1:2:3:4:5:6]:9": "2001:db8:1:2::/64",
		"[fe80::1%eth0]:9": "fe80::/64", "127.0.0.1:9": "127.0.0.0/8", "127.8.7.6:9": "127.0.0.0/8", "[::1]:9": "127.0.0.0/8", "[::ffff:127.0.0.2]:9": "127.0.0.0/8", "@": "invalid Prefix", "": "invalid Prefix",
	} {
		if got := Network(remote).String(); got != want {
			t.Errorf("%s: %s, want %s", remote, got, want)
		}
	}
}
