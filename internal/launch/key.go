package launch

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/forward"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

// A keeper keeps the model's key from codex: it adds the key to codex's requests. So it sees how they go.
type keeper struct {
	forwarder *forward.Forwarder
	hear      atomic.Pointer[func(threadID string, call agent.ModelCalled)] // nil until the driver does
}

// keepKey starts it. CODEX_CA_CERTIFICATE is a setting of codex's, which would make these requests itself.
func keepKey(environ []string, log *slog.Logger) (*keeper, error) {
	transport, err := forward.Transport(settings.Value(environ, "CODEX_CA_CERTIFICATE"))
	if err != nil {
		return nil, fmt.Errorf("CODEX_CA_CERTIFICATE: %w", err)
	}
	k := &keeper{}
	if k.forwarder, err = forward.Listen(transport, k.called, log); err != nil {
		return nil, err
	}
	return k, nil
}

// calls has the driver of codex hear of its requests: it is [codex.Config.Calls].
func (k *keeper) calls(hear func(threadID string, call agent.ModelCalled)) { k.hear.Store(&hear) }

func (k *keeper) called(c forward.Call) {
	if hear := k.hear.Load(); hear != nil {
		(*hear)(c.Thread, agent.ModelCalled{
			Socket: c.Socket, Begun: c.Begun, Connect: c.Connect, Sent: c.Sent, First: c.First, Took: c.Took, Tokens: c.Tokens, Status: c.Status,
		})
	}
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
