// Package caller reads from a request who may have sent it: a process of this machine, a
// proxy, a page in somebody's browser. Every door of the runtime asks here, so that none
// of them believes what another one refuses. It decides nothing.
package caller

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// OfThisMachine reports whether a request comes from this machine, to a name of it, and
// not by way of a proxy: a page can make its visitor's browser call us under a name of
// its own.
func OfThisMachine(r *http.Request) bool {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && from.Addr().Unmap().IsLoopback() && LocalName(HostName(r.Host)) && !Proxied(r)
}

// proxyHeaders are what proxies, load balancers and content networks put into what they
// hand on; a name that ends in a dash stands for all that begin so.
var proxyHeaders = []string{ //nolint:gochecknoglobals // a constant table
	"Forwarded", "Via", "Cdn-Loop", "Client-Ip", "Proxy-Connection", "True-Client-Ip", "X-Client-Ip", "X-Cluster-Client-Ip", "X-Host", "X-Proxyuser-Ip", "X-Real-Ip",
	"Cf-", "Fastly-", "Fly-", "Ngrok-", "Tailscale-", "X-Amzn-", "X-Appengine-", "X-Azure-", "X-Envoy-", "X-Forwarded-", "X-Original-", "X-Proxy-", "X-Vercel-",
}

// Proxied reports whether a request shows that a proxy has made it: one on this machine
// calls from loopback for anyone, and some hand on the Host that they were given, or put
// ours there. Not all say for whom they call. HTTP/1.0, which no browser speaks, is a
// proxy's, nginx's before 1.29.7 among them; later ones speak 1.1 and, as they come, say
// nothing at all, as tunnels do, so that their requests cannot be told from this machine's.
func Proxied(r *http.Request) bool {
	if !r.ProtoAtLeast(1, 1) {
		return true
	}
	for name := range r.Header {
		for _, known := range proxyHeaders {
			if name == known || strings.HasSuffix(known, "-") && strings.HasPrefix(name, known) {
				return true
			}
		}
	}
	return false
}

// HostName is the name or address in a Host header: lower case, without port, brackets
// and the dot of the root.
func HostName(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// LocalName reports whether a host name leads to the machine that resolves it, wherever
// that is, and browsers trust it, so that they say which page asks (see [Browser]). They do
// not trust 0.0.0.0, [::] and IPv4 in IPv6, which lead there, too.
func LocalName(name string) bool {
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.IsLoopback() && !addr.Is4In6()
}

// Browser reports whether a browser says in what connection it asks. It does so where it
// trusts the address, which is over TLS and on loopback; elsewhere its silence says
// nothing.
func Browser(r *http.Request) bool {
	for name := range r.Header {
		if strings.HasPrefix(name, "Sec-Fetch-") {
			return true
		}
	}
	return false
}

// OtherPage reports whether a browser says that the page of another origin asks. Another
// port of the same host is one: "same-site" to a browser, and not trusted any more than a
// page from elsewhere.
func OtherPage(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return false
	}
	return true
}

// Followed reports whether a browser says that its user follows a link: the answer is
// shown to that user, and the page with the link does not get to see it.
func Followed(r *http.Request) bool {
	return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// Network is the network that one sender is taken to have to itself: the address, or the
// /64 that a host of IPv6 picks its addresses from. All addresses of loopback, of either
// version, are this machine's. It is the zero one if remote, an address with a port, is none.
func Network(remote string) netip.Prefix {
	from, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Prefix{}
	}
	addr := from.Addr().Unmap().WithZone("")
	if addr.IsLoopback() {
		return netip.PrefixFrom(netip.AddrFrom4([4]byte{127}), 8)
	}
	bits := 32
	if addr.Is6() {
		bits = 64
	}
	network, _ := addr.Prefix(bits) // of these lengths there is none that fails
	return network
}
