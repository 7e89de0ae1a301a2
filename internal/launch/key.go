package launch

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/forward"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

// A keeper keeps the model's key from codex: it adds the key to codex's requests.
type keeper struct{ forwarder *forward.Forwarder }

// keepKey starts it. CODEX_CA_CERTIFICATE is a setting of codex's, which would make these requests itself.
func keepKey(environ []string, log *slog.Logger) (*keeper, error) {
	transport, err := forward.Transport(settings.Value(environ, "CODEX_CA_CERTIFICATE"))
	if err != nil {
		return nil, fmt.Errorf("CODEX_CA_CERTIFICATE: %w", err)
	}
	f, err := forward.Listen(transport, func(forward.Call) {}, log)
	if err != nil {
		return nil, err
	}
	return &keeper{f}, nil
}

// Renew implements [adapter.Renewer].
func (k *keeper) Renew(endpoint, key string) (adapter.Forward, error) {
	url, token, err := k.forwarder.Renew(forward.Target{URL: endpoint, Key: key})
	return adapter.Forward{URL: url, Token: token}, err
}

// Close ends it, within a second.
func (k *keeper) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return k.forwarder.Close(ctx)
}

// Watch implements [executor.Watcher]: while a job is handed over, the connection is made by which codex
// will ask the model.
func (c *Codex) Watch(_ executor.Job, _ string, next executor.Observer) (observe executor.Observer, refused func(error)) {
	if c.key != nil {
		c.key.forwarder.Warm()
	}
	return next, nil
}
