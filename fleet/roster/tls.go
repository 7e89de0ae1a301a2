package roster

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
)

// ErrFingerprint is the error of a connection to a machine that shows another certificate than the one that is pinned.
var ErrFingerprint = errors.New("the machine shows another certificate than the one whose fingerprint stands in RUNTIME_MACHINES")

// TLS is how the machine is spoken to: by the fingerprint alone if there is one, whatever the certificate's names and dates
// say, else by the authorities, nil being those of the system.
func (e Entry) TLS(authorities *x509.CertPool) *tls.Config {
	cfg := &tls.Config{MinVersion: tls.VersionTLS13, ServerName: e.ServerName, RootCAs: authorities}
	if e.Fingerprint != "" {
		cfg.InsecureSkipVerify = true // the fingerprint is checked in its place, and also of a session that is resumed
		cfg.VerifyConnection = e.verify
	}
	return cfg
}

func (e Entry) verify(state tls.ConnectionState) error {
	if len(state.PeerCertificates) == 0 {
		return ErrFingerprint
	}
	sum := sha256.Sum256(state.PeerCertificates[0].Raw)
	got := hex.EncodeToString(sum[:])
	if subtle.ConstantTimeCompare([]byte(got), []byte(e.Fingerprint)) != 1 {
		return fmt.Errorf("%w: it is sha256:%s", ErrFingerprint, got)
	}
	return nil
}
