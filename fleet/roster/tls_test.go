package roster_test

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"log/slog"
	"net"
	"net/http/httptest"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet/roster"
)

// TestTLS: a machine is known by its fingerprint alone if there is one, and else by an authority and its name.
func TestTLS(t *testing.T) {
	server := httptest.NewUnstartedServer(nil)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.StartTLS()
	t.Cleanup(server.Close)
	sum := sha256.Sum256(server.Certificate().Raw)
	right, wrong := hex.EncodeToString(sum[:]), hex.EncodeToString(make([]byte, 32))
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	for name, test := range map[string]struct {
		entry       roster.Entry
		authorities *x509.CertPool
		refused     func(error) bool
	}{
		"pinned":                  {roster.Entry{ServerName: "elsewhere.test", Fingerprint: right}, nil, nil},
		"pinned-another":          {roster.Entry{ServerName: "example.com", Fingerprint: wrong}, pool, isFingerprint},
		"authority":               {roster.Entry{ServerName: "example.com"}, pool, nil},
		"authority-another-name":  {roster.Entry{ServerName: "elsewhere.test"}, pool, isHostname},
		"authority-of-the-system": {roster.Entry{ServerName: "example.com"}, nil, isUnknown},
		"address":                 {roster.Entry{ServerName: "127.0.0.1"}, pool, nil},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := test.entry.TLS(test.authorities)
			cfg.ClientSessionCache = tls.NewLRUClientSessionCache(1)
			for range 2 {
				err := dial(server.Listener.Addr(), cfg)
				if test.refused == nil && err != nil || test.refused != nil && !test.refused(err) {
					t.Errorf("%v", err)
				}
			}
		})
	}
}

func dial(addr net.Addr, cfg *tls.Config) error {
	conn, err := tls.Dial("tcp", addr.String(), cfg)
	if err == nil {
		_ = conn.Close()
	}
	return err
}

func isFingerprint(err error) bool { return errors.Is(err, roster.ErrFingerprint) }

func isHostname(err error) bool {
	_, ok := errors.AsType[x509.HostnameError](err)
	return ok
}

func isUnknown(err error) bool {
	_, ok := errors.AsType[x509.UnknownAuthorityError](err)
	return ok
}
