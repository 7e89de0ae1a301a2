package server

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// doors keep out what a browser may have been tricked into sending: requests
// under a foreign host name (DNS rebinding) and requests of foreign pages.
type doors struct {
	anyHost bool
	hosts   []string // lower case, without ports
	origins []string // scheme://host[:port], lower case
}

func newDoors(cfg *Config) (doors, error) {
	d := doors{anyHost: cfg.AnyHost}
	for _, h := range cfg.AllowedHosts {
		d.hosts = append(d.hosts, hostName(h))
	}
	for _, o := range cfg.AllowedOrigins {
		d.origins = append(d.origins, strings.ToLower(strings.TrimSuffix(o, "/")))
	}
	if cfg.PublicURL != "" {
		u, err := parsePublicURL(cfg.PublicURL)
		if err != nil {
			return d, err
		}
		d.hosts = append(d.hosts, hostName(u.Host))
		d.origins = append(d.origins, strings.ToLower(u.Scheme+"://"+u.Host))
	}
	return d, nil
}

func (d doors) check(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" { // tells nothing, and probes come under any name
			next.ServeHTTP(w, r)
			return
		}
		origin := r.Header.Get("Origin")
		// A page's request is held to the list in every case: with any host
		// allowed, a rebound name would be same-origin to itself.
		if (!d.anyHost || origin != "") && !d.hostAllowed(r) {
			fail(w, r, http.StatusMisdirectedRequest, "this server does not answer to the host name "+
				quote(hostName(r.Host))+"; call it as localhost, or set RUNTIME_PUBLIC_URL to the URL it is called by")
			return
		}
		if origin != "" && !d.originAllowed(origin, r) {
			fail(w, r, http.StatusForbidden, "requests of pages from "+quote(origin)+" are refused; "+
				"set RUNTIME_PUBLIC_URL if that is where this server is reached")
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (d doors) hostAllowed(r *http.Request) bool {
	name := hostName(r.Host)
	if name == "localhost" || strings.HasSuffix(name, ".localhost") || slices.Contains(d.hosts, name) {
		return true
	}
	addr, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	addr = addr.Unmap()
	// An address cannot be rebound. 0.0.0.0 is what people copy from a log.
	return addr.IsLoopback() || addr.IsUnspecified() || addr == localAddr(r)
}

// localAddr is the address that the request came in at: under 0.0.0.0 it is
// the one of the listen addresses that the caller used.
func localAddr(r *http.Request) netip.Addr {
	a, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return a.AddrPort().Addr().Unmap().WithZone("")
}

func (d doors) originAllowed(origin string, r *http.Request) bool {
	origin = strings.ToLower(origin)
	if slices.Contains(d.origins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") &&
		u.Host == strings.ToLower(r.Host)
}

// hostName is the name or address in a Host header: lower case, without port,
// brackets and the dot of the root.
func hostName(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}
