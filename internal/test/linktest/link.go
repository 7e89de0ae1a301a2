package linktest

import "time"

// A Link is the way to an endpoint, and how the endpoint treats connections. The zero
// Link has no distance.
type Link struct {
	// RoundTrip is how long a byte takes to the endpoint and another one back.
	RoundTrip time.Duration
	// Uplink bounds the bytes a second that go from clients to the endpoint, on all
	// connections together. 0 is no bound.
	Uplink int
	// IdleTimeout is after how long a connection is closed on which no byte has gone, either
	// way. 0 is never.
	IdleTimeout time.Duration
	// BlackHole says that such a connection is not closed: what is sent on it from then
	// on is lost, and neither end hears of it, as where a firewall has forgotten it.
	BlackHole bool
	// HTTP2 says that the endpoint offers HTTP/2, by ALPN, beside HTTP/1.1.
	HTTP2 bool
}

// Traffic is what has gone over a link.
type Traffic struct {
	Connections int   // that clients have opened; those that were refused do not count
	Open        int   // of these, that are open
	Up, Down    int64 // bytes from and to clients, those of TLS among them
}

// An Ending is how a connection is cut.
type Ending int

// How a connection is cut.
const (
	FIN Ending = iota // its end is said, as by a server that stops
	RST               // it is reset, as by a server that has crashed
)
