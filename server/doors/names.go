package doors

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/caller"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/refusals"
	"github.com/Molecule-AI/molecule-codex-runtime/server/respond"
	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
)

// Why the doors refuse, as it is counted.
const (
	RefusedHost   refusals.Reason = "host"
	RefusedOrigin refusals.Reason = "origin"
	RefusedPage   refusals.Reason = "page"
)

// names keep out what a browser may have been tricked into sending: requests
// under a foreign host name (DNS rebinding) and requests of foreign pages.
//
// A page that has had its name rebound to us is same-origin to itself: it reads what we
// answer, sends no Origin with a GET, and over plain HTTP nothing else that tells it from
// a program. What is left to know it by is the name that it calls us by.
type names struct {
	anyHost bool
	asks    bool     // for a credential, of callers of A2A
	token   bool     // there is one of our own
	hosts   []string // lower case, without ports
	origins []string // scheme://host[:port], lower case
	refused func(refusals.Reason)
}

func newNames(cfg *Config) (names, error) {
	d := names{anyHost: cfg.AnyHost, refused: cfg.Refused, token: cfg.Token != "", asks: cfg.asks()}
	for _, h := range cfg.AllowedHosts {
		d.hosts = append(d.hosts, caller.HostName(h))
	}
	for _, o := range cfg.AllowedOrigins {
		d.origins = append(d.origins, strings.ToLower(strings.TrimSuffix(o, "/")))
	}
	if cfg.PublicURL != "" {
		u, err := parsePublicURL(cfg.PublicURL)
		if err != nil {
			return d, err
		}
		d.hosts = append(d.hosts, caller.HostName(u.Host))
		d.origins = append(d.origins, strings.ToLower(u.Scheme+"://"+u.Host))
	}
	return d, nil
}

// CheckNames lets in requests that call us by a name of ours, and come from no page of
// elsewhere.
func (d names) CheckNames(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		switch {
		case r.URL.Path == "/healthz": // tells nothing, and probes come under any name
		case !d.hostAllowed(r) && !d.anyNameWillDo(r):
			d.refused(RefusedHost)
			respond.Fail(w, r, http.StatusMisdirectedRequest, "this server does not answer to the host name "+
				wire.Quote(caller.HostName(r.Host))+"; call it as localhost, or set RUNTIME_PUBLIC_URL to the URL it is called by")
			return
		case origin != "" && !d.originAllowed(origin, r):
			d.refused(RefusedOrigin)
			respond.Fail(w, r, http.StatusForbidden, "requests of pages from "+wire.Quote(origin)+" are refused; "+
				"set RUNTIME_PUBLIC_URL if that is where this server is reached")
			return
		case caller.OtherPage(r) && !slices.Contains(d.origins, strings.ToLower(origin)) && !isLink(r):
			d.refused(RefusedPage)
			respond.Fail(w, r, http.StatusForbidden, "requests of pages from elsewhere are refused; open "+wire.Quote(r.URL.Path)+" itself")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hostAllowed reports whether a request calls us by a name that is ours.
func (d names) hostAllowed(r *http.Request) bool {
	name := caller.HostName(r.Host)
	if caller.LocalName(name) || slices.Contains(d.hosts, name) {
		return true
	}
	addr, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	// An address cannot be rebound: a page that calls us by one was loaded from it. That of
	// another machine may still be the address of somebody else's page by now, so pages are
	// held to the one that they came in at, and not as IPv4 in IPv6: that of loopback is no
	// name of ours, see [caller.LocalName].
	return addr == localAddr(r) || d.anyHost && r.Header.Get("Origin") == ""
}

// anyNameWillDo reports whether a request is let through under whatever name it calls us
// by, where names of ours may be known to others only: if it tells nothing, if it could
// be no page's, or if it is asked for a credential, which a page does not have.
func (d names) anyNameWillDo(r *http.Request) bool {
	path := r.URL.Path
	switch {
	case !d.anyHost || r.Header.Get("Origin") != "":
		return false
	case below(path, respond.FilesPath): // the URL is the credential, and people follow it
		return !caller.Browser(r) || isLink(r)
	case caller.Browser(r):
		return false
	case below(path, "/internal/"), below(path, "/console/"), path == "/transcript":
		return true // asked there, in any case
	case path == "/metrics", below(path, "/machines/"):
		return d.token
	case respond.IsCard(path) && reads(r), path == "/readyz":
		return true
	case respond.AtJSONRPC(path), respond.OfREST(path): // a page's POST has an Origin
		return d.asks || r.Method == http.MethodPost
	}
	return false
}

// isLink reports whether a user follows a link to what is meant to be linked to: the page
// for people, files that were handed out, and the card. None of it does anything.
func isLink(r *http.Request) bool {
	path := r.URL.Path
	return caller.Followed(r) && (path == "/console" || below(path, respond.FilesPath) || respond.IsCard(path))
}

// below reports whether a path is that of a folder, which ends in a slash, or in it.
func below(path, folder string) bool { return strings.HasPrefix(path+"/", folder) }

func reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// localAddr is the address that the request came in at: under 0.0.0.0 it is
// the one of the listen addresses that the caller used.
func localAddr(r *http.Request) netip.Addr {
	a, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return a.AddrPort().Addr().Unmap().WithZone("")
}

func (d names) originAllowed(origin string, r *http.Request) bool {
	origin = strings.ToLower(origin)
	if slices.Contains(d.origins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") &&
		u.Host == strings.ToLower(r.Host)
}

func parsePublicURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("server: public URL %q: want http://host[:port] or https://host[:port]", raw)
	}
	return u, nil
}
