// Package machines is how the settings have machines be found and reached that commands run on.
package machines

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet/client"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet/placement"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet/roster"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

// Source is where the list of machines comes from.
func Source(s settings.Settings) (roster.Source, error) {
	source, err := roster.Parse(s.Machines)
	if err != nil {
		return nil, fmt.Errorf("RUNTIME_MACHINES: %w", err)
	}
	return source, nil
}

// Labels are those that a machine must have to be used.
func Labels(s settings.Settings) (placement.Labels, error) {
	labels, err := placement.ParseLabels(s.MachinesLabels)
	if err != nil {
		return nil, fmt.Errorf("RUNTIME_MACHINES_LABELS: %w", err)
	}
	return labels, nil
}

// Clients makes the clients of machines, for a runtime by its id. Each asks for the epoch that it says.
func Clients(s settings.Settings, runtime string) (func(e roster.Entry, epoch func() int64) *client.Client, error) {
	if s.MachinesSecret == "" && !s.MachinesToken.Set() {
		return nil, errors.New("RUNTIME_MACHINES is set, and RUNTIME_MACHINES_TOKEN_FILE is not: put there what runtime machine token prints on a machine")
	}
	trusted, err := authorities(s.MachinesCA)
	if err != nil {
		return nil, err
	}
	return func(e roster.Entry, epoch func() int64) *client.Client {
		return client.New(client.Config{Address: e.Address, TLS: e.TLS(trusted), Token: token(s), Runtime: runtime, Epoch: epoch})
	}, nil
}

// token reads the token of the machines, which may be replaced.
func token(s settings.Settings) func() string {
	return func() string {
		if s.MachinesSecret == "" {
			return s.MachinesToken.Reveal()
		}
		text, err := regular.Read(s.MachinesSecret, mostToken)
		if err != nil {
			return s.MachinesToken.Reveal()
		}
		return cmp.Or(strings.TrimSpace(string(text)), s.MachinesToken.Reveal())
	}
}

// mostToken is how long a file may be that holds a token.
const mostToken = 4 << 10

// authorities are what certificates are checked against; nil are the system's.
func authorities(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("RUNTIME_MACHINES_CA: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("RUNTIME_MACHINES_CA: %s has no certificate in PEM", file)
	}
	return pool, nil
}
