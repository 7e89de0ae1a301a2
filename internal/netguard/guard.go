// Package netguard keeps URLs that callers give us from leading into networks
// that are none of their business: the loopback, the container's neighbours, the
// cloud's metadata service. What a name resolves to is checked when the
// connection is made, so a name that changes its mind in between gains nothing.
//
// A [Guard] is immutable and may be used concurrently.
package netguard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// ErrForbidden is the cause of every refusal by a [Guard].
var ErrForbidden = errors.New("forbidden address")

// A Guard knows which networks may be reached beside the public internet.
type Guard struct{ allowed []netip.Prefix }

// New returns a guard that also lets the given networks be reached.
func New(allowed ...netip.Prefix) *Guard { return &Guard{slices.Clone(allowed)} }

// special are the ranges that are not the public internet and that
// [netip.Addr] has no method for (RFC 6890 and its registry).
var special = prefixes( //nolint:gochecknoglobals // a constant table
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16", "fec0::/10",
)

// embedding are the ranges of IPv6 addresses that lead to an IPv4 address, and
// the byte at which it stands.
var embedding = map[netip.Prefix]int{ //nolint:gochecknoglobals // a constant table
	netip.MustParsePrefix("64:ff9b::/96"): 12, // NAT64
	netip.MustParsePrefix("2002::/16"):    2,  // 6to4
}

func prefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		out[i] = netip.MustParsePrefix(text)
	}
	return out
}

// Address returns an error if ip must not be reached.
func (g *Guard) Address(ip netip.Addr) error {
	ip = ip.Unmap().WithZone("")
	contains := func(p netip.Prefix) bool { return p.Contains(ip) }
	if slices.ContainsFunc(g.allowed, contains) {
		return nil
	}
	for prefix, at := range embedding {
		if prefix.Contains(ip) {
			b := ip.As16()
			return g.Address(netip.AddrFrom4([4]byte(b[at : at+4])))
		}
	}
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || slices.ContainsFunc(special, contains) {
		return fmt.Errorf("%w: %s is not on the public internet; RUNTIME_ALLOW_NETWORKS can allow it", ErrForbidden, ip)
	}
	return nil
}

// URL parses a URL that a caller gave and refuses it where its text alone says
// that it must not be followed. Names are judged when they are dialed.
func (g *Guard) URL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "":
		return nil, fmt.Errorf("%w: not an absolute URL", ErrForbidden)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%w: the scheme %q is neither http nor https", ErrForbidden, u.Scheme)
	case u.User != nil:
		return nil, fmt.Errorf("%w: a URL with a user or password in it", ErrForbidden)
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil {
		return u, g.Address(ip)
	}
	if name := strings.TrimSuffix(strings.ToLower(u.Hostname()), "."); name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return u, g.Address(netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	}
	return u, nil
}

// Client returns an HTTP client that connects to no forbidden address, follows
// no redirects, and gives a request as long as timeout.
func (g *Guard) Client(timeout time.Duration) *http.Client {
	dialer := &net.Dialer{Timeout: timeout, ControlContext: g.control}
	return &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			DialContext:         dialer.DialContext, // and no proxy: it would connect where we cannot look
			TLSHandshakeTimeout: timeout,
			MaxIdleConnsPerHost: 2,
			IdleConnTimeout:     30 * time.Second,
			ForceAttemptHTTP2:   true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// control sees the address that is about to be connected to.
func (g *Guard) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	addr, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %s", ErrForbidden, address)
	}
	return g.Address(addr.Addr())
}
