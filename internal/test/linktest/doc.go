// Package linktest puts an endpoint at a distance, for tests and benchmarks: in front of
// an [http.Handler], such as a scripted model, it stands as a server behind TLS whose
// bytes take their time.
//
// # The model
//
// The distance is below TLS: what is delayed are the bytes on a TCP connection, so that the
// handshakes of TLS and what HTTP asks and answers pay their round trips as they do on
// a network. It is made of these:
//
//   - Each byte takes half a round trip, either way. Bytes that are under way hold none
//     back: distance does not limit throughput.
//   - The first byte of a client waits one more round trip: the handshake of TCP, which
//     loopback does not pay.
//   - The bytes of all clients leave one after the other, at the rate of the uplink.
//   - A connection that has carried nothing for too long is closed by the server, or
//     forgotten on the way.
//
// There is no loss and no slow start: a new connection is as fast as an old one. On a real
// link it is not, so what a benchmark finds here that a new connection costs is the least
// that it costs there.
//
// # Ownership
//
// An [Upstream] owns its listener, its connections and their goroutines; they end with the
// test that has started it. Its methods may be called concurrently.
package linktest
