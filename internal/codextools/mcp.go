package codextools

import (
	"context"
	"log/slog"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/secrets"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/toolset"
)

// Alone are the tools of a workspace as runtime mcp offers them, beside the runtime of that; end gives back what they take.
func Alone(s settings.Settings, redact *logging.Redactor, identity map[string]string, log *slog.Logger) (set *toolset.Set, end func()) {
	client := secrets.PlatformClient(s, redact)
	recorder := toolset.NewRecorder(client, redact.String, log)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		recorder.Run(ctx)
	}()
	may := func(action string) bool { // what cannot be read grants nothing
		config, _, err := adapter.ReadConfig(s.ConfigFile)
		return err == nil && config.RBAC.Allows(action)
	}
	return New(s, client, redact, toolset.Config{May: may, Identity: identity, Log: recorder.Record, Logger: log}), func() {
		cancel()
		<-done
		_ = client.Close()
	}
}
