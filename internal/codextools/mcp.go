package codextools

import (
	"context"
	"log/slog"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/secrets"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/toolset"
)

// Alone are the tools of a workspace as runtime mcp offers them, beside the runtime of that; inbox is as that of
// a [toolset.Config]. end gives back what they take.
func Alone(s settings.Settings, redact *logging.Redactor, identity map[string]string, log *slog.Logger, inbox toolset.Inbox) (set *toolset.Set, end func()) {
	client := secrets.PlatformClient(s, redact)
	recorder, done := Recorder(client, redact, log)
	return New(s, client, redact, toolset.Config{May: May(s.ConfigFile), Identity: identity, Log: recorder.Record, Logger: log, Inbox: inbox}), func() {
		done()
		_ = client.Close()
	}
}

// Recorder writes rows of activity until end is called.
func Recorder(client *platform.Client, redact *logging.Redactor, log *slog.Logger) (r *toolset.Recorder, end func()) {
	r = toolset.NewRecorder(client, redact.String, log)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Run(ctx)
	}()
	return r, func() {
		cancel()
		<-done
	}
}

// May are the roles of a workspace's config.yaml, read for each call; "" is none, and grants all.
func May(config string) func(action string) bool {
	if config == "" {
		return nil
	}
	return func(action string) bool { // what cannot be read grants nothing
		read, _, err := adapter.ReadConfig(config)
		return err == nil && read.RBAC.Allows(action)
	}
}
