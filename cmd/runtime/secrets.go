package main

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
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

// Of what is given out while the process works, the newest are known to be secret: of each
// workspace's platform, of codex's logins, and of what is read again at each start of codex.
const (
	mostGiven = 32
	mostRead  = 1024
)

// secretsOf is everything that is known to be secret at the start: what stands in the
// environment, and in the files of the workspace and of codex. What comes later is
// added when it is seen.
func secretsOf(s settings.Settings, environ []string) *logging.Redactor {
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
		redact.Add(secretIn(regular.Read, space.TokenFile))
	}
	if !s.InWorkspace() {
		return redact
	}
	files, _, _ := adapter.SecretFiles(s.SecretsDir, s.User) // likewise
	for _, kv := range files {
		_, value, _ := strings.Cut(kv, "=")
		redact.Add(value)
	}
	for _, file := range []string{s.TokenFile, filepath.Join(s.ConfigsDir, platform.TokenFile), filepath.Join(s.ConfigsDir, platform.InboundSecretFile)} {
		redact.Add(secretIn(regular.Read, file))
	}
	return redact
}

// mostSecret bounds the file of a secret.
const mostSecret = 64 << 10

// secretIn is the secret that a file holds; "" if there is none.
func secretIn(read func(path string, most int64) ([]byte, error), file string) string {
	if file == "" {
		return ""
	}
	text, err := read(file, mostSecret)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// mostShown bounds what a check has to say. Much of it can be others' words: codex's, and
// those of its configuration, which commands may own.
const mostShown = 2000

// showable is a text on one line of a terminal, where it does nothing but stand.
func showable(text string, redact *logging.Redactor) string {
	return brief.Plain(brief.Line(redact.String(text), mostShown))
}

// withoutSecrets is a report that can be shown, to a person at a terminal too.
func withoutSecrets(report preflight.Report, redact *logging.Redactor) preflight.Report {
	clean := preflight.Report{Results: make([]preflight.Result, len(report.Results))}
	for i, r := range report.Results {
		r.Detail, r.Fix = showable(r.Detail, redact), showable(r.Fix, redact)
		clean.Results[i] = r
	}
	return clean
}
