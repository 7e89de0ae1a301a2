package fakeplatform

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// Restart is what the platform does before it starts the workspace's container anew:
// the workspace is nowhere, its token is another, and that stands in the folder of its
// configuration. Stopping and starting it is the test's.
func (h *Handle) Restart(configs string) error {
	token := look(h, func(w *workspace) string {
		w.token, w.status, w.url = newToken(), "provisioning", w.provisioned
		return w.token
	})
	return os.WriteFile(filepath.Join(configs, ".auth_token"), []byte(token+"\n"), 0o600)
}

// RestartContext is the message that the platform sends of its own accord when the
// workspace is online again, and what the workspace answers.
func (h *Handle) RestartContext(ctx context.Context) Reply {
	keys := look(h, func(w *workspace) []string {
		var out []string
		for name := range w.Secrets {
			out = append(out, name)
		}
		return out
	})
	text := "=== WORKSPACE RESTART CONTEXT ===\nPrevious session ended: (no prior session on record)\n" +
		"Env vars now available: " + strings.Join(keys, ", ") + "\n=== END RESTART CONTEXT ===\n"
	return h.p.pass(ctx, h.ws, "system:restart-context", object{"method": "message/send", "params": map[string]any{"message": map[string]any{
		"messageId": newID(), "role": "user", "parts": []any{map[string]any{"kind": "text", "text": text}},
		"metadata": map[string]any{"source": "platform", "kind": "restart_context", "layer": 1, "restart_context": true},
	}}})
}
