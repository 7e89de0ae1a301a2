package forward

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/url"
	"os"
	"time"
)

// mostHeader bounds the header of an answer: in memory, one of many small fields takes some
// seventeen times what it has on the wire.
const mostHeader = 256 << 10

// Transport reaches endpoints as Go does by itself, proxies of the environment
// included, and trusts the authorities in caFile, if there is one, beside the system's.
func Transport(caFile string) (*http.Transport, error) {
	own, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, errors.New("the default transport was replaced")
	}
	transport := own.Clone()
	// A connection that has died without a word would take each of codex's tries.
	transport.HTTP2 = &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second}
	transport.MaxResponseHeaderBytes = mostHeader
	if caFile == "" {
		return transport, nil
	}
	text, err := os.ReadFile(caFile)
	if err != nil {
		return nil, err
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, err
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, errors.New(caFile + " holds no certificate")
	}
	transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return transport, nil
}

// onlyHTTP1 is a transport as the other, which asks for nothing newer than HTTP/1.1: a WebSocket
// begins with that.
func onlyHTTP1(transport *http.Transport) *http.Transport {
	old := transport.Clone()
	old.Protocols = &http.Protocols{}
	old.Protocols.SetHTTP1(true)
	old.ForceAttemptHTTP2, old.TLSNextProto = false, nil
	if old.TLSClientConfig == nil {
		old.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	old.TLSClientConfig.NextProtos = []string{"http/1.1"} // a clone has the other's
	if proxy := old.Proxy; proxy != nil {
		old.Proxy = func(r *http.Request) (*url.URL, error) { return proxy(exactly(r)) }
	}
	return old
}

// aheadKey is where a context has the URL to which a connection is made ahead.
type aheadKey struct{}

// exactly is a request whose proxy is asked for, with its port: [http.Transport.NewClientConn] leaves that
// out, by which some hosts are reached without one.
func exactly(r *http.Request) *http.Request {
	if to, ok := r.Context().Value(aheadKey{}).(*url.URL); ok {
		r.URL = to
	}
	return r
}
