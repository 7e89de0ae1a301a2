// Package secrets knows what is secret of a runtime and where it stands: the tokens of its workspaces, its logins and keys.
// It has them kept from what is written and handed out, and from the user that codex runs as.
package secrets

import (
	"path/filepath"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// Of what is given out while the process works, so many of the newest are known to be secret: MostGiven of each
// workspace's platform and of codex's logins, MostRead of what is read again at each start of codex.
const (
	MostGiven = 32
	MostRead  = 1024
)

// Of is everything that is known to be secret at the start: what stands in the
// environment, and in the files of the workspace and of codex. What comes later is
// added when it is seen.
func Of(s settings.Settings, environ []string) *logging.Redactor {
	redact := logging.NewRedactor(s.Secrets()...)
	config := adapter.Config{}
	if s.InWorkspace() {
		config, _, _ = adapter.ReadConfig(s.ConfigFile) // what is wrong with it is said by others
	}
	redact.Add(config.Secrets...)
	redact.Add(adapter.Credentials(environ, config.Providers)...)
	login, _ := asuser.Value(s.User, func() (adapter.Login, error) {
		login, _, err := adapter.ReadLogin(s.CodexHome) // there may be none
		return login, err
	})
	redact.Add(login.Secrets()...)
	for _, space := range s.Spaces {
		redact.Add(In(regular.Read, space.TokenFile))
	}
	redact.Add(In(regular.Read, s.MachinesSecret))
	if !s.InWorkspace() {
		return redact
	}
	files, _, _ := adapter.SecretFiles(s.SecretsDir, s.User) // likewise
	for _, kv := range files {
		_, value, _ := strings.Cut(kv, "=")
		redact.Add(value)
	}
	for _, file := range []string{s.TokenFile, filepath.Join(s.ConfigsDir, platform.TokenFile), filepath.Join(s.ConfigsDir, platform.InboundSecretFile)} {
		redact.Add(In(regular.Read, file))
	}
	return redact
}

// MostBytes bounds the file of a secret.
const MostBytes = 64 << 10

// In is the secret that a file holds; "" if there is none.
func In(read func(path string, most int64) ([]byte, error), file string) string {
	if file == "" {
		return ""
	}
	text, err := read(file, MostBytes)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// mostShown bounds what a check has to say. Much of it can be others' words: codex's, and
// those of its configuration, which commands may own.
const mostShown = 2000

// Shown is a text, without secrets, on one line of a terminal, where it does nothing but stand.
func Shown(text string, redact *logging.Redactor) string {
	return brief.Plain(brief.Line(redact.String(text), mostShown))
}
