package serve

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
	"github.com/Molecule-AI/molecule-codex-runtime/adapter/presence"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextools"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/host"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/secrets"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/server"
)

// A link is how a workspace and its platform speak with each other; nil standing alone. Its client keeps what the platform
// gives out, and registers anew where that refuses the token.
type link struct {
	s       settings.Settings
	redact  *logging.Redactor
	tokens  *regular.Keeper // the files of the workspace's token and the platform's secret
	client  *platform.Client
	speaker *platform.Speaker // says to the user what no caller waits for
	joined  host.Later[presence.Presence]
}

var errNotJoined = errors.New("the workspace is not registered yet")

func openLink(life *host.Life, w *host.Watch) *link {
	if !w.Settings.InWorkspace() {
		return nil
	}
	l := &link{s: w.Settings, redact: w.Redact, tokens: &regular.Keeper{}}
	cfg := secrets.PlatformConfig(l.s, l.redact)
	cfg.Observe, cfg.Files, cfg.Dir = w.Calls, l.tokens, l.s.ConfigsDir
	cfg.OnUnauthorized = func(ctx context.Context) error {
		if member := l.joined.Get(); member != nil {
			return member.Register(ctx)
		}
		return errNotJoined
	}
	l.client = platform.New(cfg)
	l.speaker = platform.NewSpeaker(l.client)
	life.Opened(l.client)
	return l
}

// logins gives out those of codex; nil standing alone.
func (l *link) logins() adapter.Secrets {
	if l == nil {
		return nil
	}
	return l.client
}

// teller puts before the user what is no reply to what they have sent.
func (l *link) teller(heard *host.Heard) codextools.Teller {
	return codextools.Teller{Client: l.client, Say: l.speaker.Notify, Said: heard.Said}
}

// side is what the platform finds here.
func (l *link) side(folder *files.Folder, version string) *server.Platform {
	seen := l.redact.Newest(secrets.MostGiven)
	read := func(name string) func() string {
		now := func() string { // each time: the platform replaces it
			secret := secrets.In(l.tokens.Read, filepath.Join(l.s.ConfigsDir, name))
			seen(secret)
			return secret
		}
		now() // before there is a command that could hold it
		return now
	}
	return &server.Platform{
		Secret: read(platform.InboundSecretFile), Token: read(platform.TokenFile),
		RequireAuth: l.s.RequireAuth(), Files: folder, Version: version,
	}
}
