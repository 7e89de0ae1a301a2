package platform

import (
	"context"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/stayhttp"
)

// Config describes a client. URL and Workspace must be set.
type Config struct {
	URL       string // of the platform
	Workspace string // our id
	Org       string // "" on a platform that serves one organisation only
	Token     Token
	HTTP      *http.Client // nil means one of its own

	// Dir is the folder of the workspace's configuration, in which the token and
	// the inbound secret that the platform gives out are kept. "" keeps the token
	// in memory only, and the secret not at all.
	Dir string

	// Files reads the files of tokens and is told what is written to those in Dir; nil means
	// one of the client's own.
	Files *regular.Keeper

	// Seen is told each token and secret that is read or given out, so that it can be
	// kept out of logs; nil if nobody wants to know.
	Seen func(secrets ...string)

	// OnUnauthorized is called when the platform refuses the token, also after it
	// was read again; it registers the workspace anew. Calls that it makes with its
	// context do not call it. nil means that there is nothing to do.
	OnUnauthorized func(context.Context) error

	// Observe is told of each call before it is made, by its name, which is one of a
	// few, and what it returns of the call's end, with its error. The header is sent with
	// each attempt; it may be nil. Nil if nobody wants to know.
	Observe func(ctx context.Context, call string) (header http.Header, ended func(error))
}

// A Client speaks for one workspace. Its methods may be called concurrently.
type Client struct {
	cfg      Config
	http     *http.Client
	origin   string
	features features
	kept     kept
	renewal  renewal
	large    places
}

// New returns a client. It connects to nothing.
func New(cfg Config) *Client {
	cfg.URL = strings.TrimRight(cfg.URL, "/")
	if cfg.Files == nil {
		cfg.Files = &regular.Keeper{}
	}
	if cfg.Seen == nil {
		cfg.Seen = func(...string) {}
	}
	c := &Client{cfg: cfg, http: cfg.HTTP, origin: originOf(cfg.URL), large: make(places, mostLarge)}
	c.features.missing = map[feature]time.Time{}
	c.renewal.turn, c.renewal.pause = make(chan struct{}, 1), renewalPause
	if c.http == nil {
		c.http = &http.Client{Transport: stayhttp.Transport{Via: newTransport()}, CheckRedirect: noRedirects}
	}
	return c
}

// Close lets go of idle connections.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

const (
	requestTimeout = 30 * time.Second
	uploadTimeout  = 10 * time.Minute
	installTimeout = 5 * time.Minute
	mostAnswer     = int64(16 << 20) // bytes of an answer that are read
	mostRow        = int64(64 << 20) // and of one that is a single row
	mostMembers    = int64(4 << 20)  // and of one of which each member is kept by its name
	mostRefusal    = 16 << 10        // and of one that refuses
	mostHeader     = 64 << 10        // bytes of the header of an answer
	mostHead       = 512             // bytes of an answer that an error holds
)

func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 4,
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second,

		MaxResponseHeaderBytes: mostHeader,
		// A connection that has died without a word is noticed.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
}

// noRedirects keeps the token with the host that it is for.
func noRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
