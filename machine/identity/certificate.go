package identity

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/whole"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// lookEvery is how often it is looked at most whether the files of a certificate have changed.
const lookEvery = time.Second

// A Certificate is that of the machine. It is read again when its files have changed.
type Certificate struct {
	Made bool // by the machine itself, and so known by its fingerprint alone

	cert, key string
	log       *slog.Logger

	mu     sync.Mutex // guards the fields below
	now    *tls.Certificate
	stamps [2]stamp
	unfit  [2]stamp // of files that cannot be used, which is said once
	looked time.Time
}

// A stamp tells one state of a file from another.
type stamp struct {
	size int64
	at   time.Time
}

func openCertificate(cfg Config) (*Certificate, error) {
	c := &Certificate{Made: cfg.Cert == "", log: cfg.Logger, cert: cfg.Cert, key: cmp.Or(cfg.Key, cfg.Cert)}
	if c.Made {
		c.cert, c.key = filepath.Join(cfg.Dir, certFile), filepath.Join(cfg.Dir, keyFile)
		if err := c.make(cfg.Names); err != nil {
			return nil, fmt.Errorf("the machine's certificate: %w", err)
		}
	}
	stamps := c.look()
	if err := c.read(stamps); err != nil {
		return nil, fmt.Errorf("the machine's certificate: %w", err)
	}
	return c, nil
}

// make writes a key and a certificate, if there are none.
func (c *Certificate) make(names []string) error {
	_, errCert := os.Stat(c.cert)
	_, errKey := os.Stat(c.key)
	if !errors.Is(errCert, fs.ErrNotExist) && !errors.Is(errKey, fs.ErrNotExist) {
		return nil
	}
	cert, key, err := selfSigned(names)
	if err != nil {
		return err
	}
	return errors.Join(whole.Write(c.key, key, 0o600), whole.Write(c.cert, cert, 0o600))
}

// selfSigned makes a certificate that is known by its fingerprint. Clocks may be wrong, and there is no use in its end:
// who trusts it does so by the fingerprint, and until that is taken away.
func selfSigned(names []string) (cert, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, nil, err
	}
	about := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "molecule machine"},
		NotBefore: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2120, 1, 1, 0, 0, 0, 0, time.UTC),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			about.IPAddresses = append(about.IPAddresses, ip)
		} else {
			about.DNSNames = append(about.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, about, about, private.Public(), private)
	if err != nil {
		return nil, nil, err
	}
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}), nil
}

// look returns how the files stand.
func (c *Certificate) look() (stamps [2]stamp) {
	for i, path := range []string{c.cert, c.key} {
		if info, err := os.Stat(path); err == nil {
			stamps[i] = stamp{info.Size(), info.ModTime()}
		}
	}
	return stamps
}

// read takes the certificate from its files.
func (c *Certificate) read(stamps [2]stamp) error {
	cert, err := regular.Read(c.cert, mostText)
	if err != nil {
		return err
	}
	key, err := regular.Read(c.key, mostText)
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return fmt.Errorf("%s and %s: %w", c.cert, c.key, err)
	}
	c.now, c.stamps = &pair, stamps
	return nil
}

// Get is for [tls.Config]. Files that cannot be used leave the certificate as it was.
func (c *Certificate) Get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.looked) >= lookEvery {
		c.looked = now
		c.renewLocked()
	}
	return c.now, nil
}

func (c *Certificate) renewLocked() {
	stamps := c.look()
	if stamps == c.stamps {
		return
	}
	if err := c.read(stamps); err != nil {
		if stamps == c.unfit {
			return
		}
		c.unfit = stamps
		c.log.Warn("the machine's certificate has changed and cannot be used; the one before stays", "err", err)
		return
	}
	c.log.Info("the machine's certificate has changed", "fingerprint", c.fingerprintLocked())
}

// Fingerprint is how the certificate is known, as [wire.Fingerprint] has it.
func (c *Certificate) Fingerprint() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fingerprintLocked()
}

func (c *Certificate) fingerprintLocked() string { return wire.Fingerprint(c.now.Certificate[0]) }
