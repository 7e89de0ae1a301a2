// Package netguard keeps URLs that callers give us from leading into networks
// other than the public internet: the loopback, the container's neighbours, the
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

	"code.dny.dev/ssrf"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/stayhttp"
)

// ErrForbidden is the cause of every refusal by a [Guard].
var ErrForbidden = errors.New("forbidden address")

// A Guard knows which networks may be reached beside the public internet.
type Guard struct {
	allowed []netip.Prefix
	local   func() ([]net.Addr, error) // the addresses of this machine
}

// New returns a guard that also lets the given networks be reached.
func New(allowed ...netip.Prefix) *Guard { return &Guard{slices.Clone(allowed), net.InterfaceAddrs} }

// nat64 are the addresses that lead to the IPv4 address in their last four bytes. Names
// resolve to them where there is no IPv4. What else embeds one is no global unicast, or
// stands in the registry.
var nat64 = ssrf.IPv6NAT64Prefix //nolint:gochecknoglobals // a constant

// azure is the address by which machines of Azure reach their platform: WireServer, which
// hands out what they are set up with, and DNS. It is in no registry of special addresses.
var azure = netip.AddrFrom4([4]byte{168, 63, 129, 16}) //nolint:gochecknoglobals // a constant

// public reports whether an address is on the public internet: what is assigned as such
// and does not stand in IANA's registries of special addresses, which the library is
// made from, nor is a cloud's own.
func public(ip netip.Addr) bool {
	if ip == azure {
		return false
	}
	special := ssrf.IPv4DeniedPrefixes
	if ip.Is6() {
		special = ssrf.IPv6DeniedPrefixes
	}
	return (ip.Is4() || ssrf.IPv6GlobalUnicast.Contains(ip)) && !within(special, ip)
}

func within(ranges []netip.Prefix, ip netip.Addr) bool {
	return slices.ContainsFunc(ranges, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// Address returns an error if ip must not be reached.
func (g *Guard) Address(ip netip.Addr) error {
	ip = ip.Unmap().WithZone("")
	switch {
	case within(g.allowed, ip):
		return nil
	case nat64.Contains(ip):
		b := ip.As16()
		return g.Address(netip.AddrFrom4([4]byte(b[12:])))
	case !public(ip):
		return fmt.Errorf("%w: %s is not on the public internet; RUNTIME_ALLOW_NETWORKS can allow it", ErrForbidden, ip)
	}
	return g.elsewhere(ip)
}

// elsewhere returns an error if ip is this machine's own, or may be: what listens here for
// all addresses is reached by a public one, too. It is asked each time (15 µs): addresses
// come and go.
func (g *Guard) elsewhere(ip netip.Addr) error {
	own, err := g.local()
	if err != nil {
		return fmt.Errorf("%w: the addresses of this machine cannot be told from others: %w", ErrForbidden, err)
	}
	for _, addr := range own {
		prefix, err := netip.ParsePrefix(addr.String())
		if err == nil && prefix.Addr().Unmap().WithZone("") == ip {
			return fmt.Errorf("%w: %s is this machine; RUNTIME_ALLOW_NETWORKS can allow it", ErrForbidden, ip)
		}
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

// maxHeader bounds the header of an answer. Fields of a few bytes take some sixteen times
// their size in memory, and Go's own bound of 10 MiB is for servers that are trusted.
const maxHeader = 64 << 10

// mostIdle bounds the connections that are kept for a next request: those who say where a request
// goes have any number of hosts, and each connection is an open file.
const mostIdle = 64

// Client returns an HTTP client that connects to no forbidden address, follows
// no redirects, and gives a request as long as timeout. It speaks HTTP/1.1, for of other
// connections Go bounds no number.
func (g *Guard) Client(timeout time.Duration) *http.Client {
	dialer := &net.Dialer{Timeout: timeout, ControlContext: g.control}
	return &http.Client{
		Timeout: timeout,
		Transport: stayhttp.Transport{Via: &http.Transport{
			DialContext:            dialer.DialContext, // and no proxy: it would connect where we cannot look
			TLSHandshakeTimeout:    timeout,
			MaxIdleConns:           mostIdle,
			MaxIdleConnsPerHost:    2,
			IdleConnTimeout:        30 * time.Second,
			MaxResponseHeaderBytes: maxHeader,
			DisableCompression:     true, // what comes is as large as it is on the way
		}},
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
