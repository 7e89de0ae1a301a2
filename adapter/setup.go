package adapter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/provider"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// A Renewer gives codex a way to an endpoint that keeps the key from it.
type Renewer interface {
	Renew(endpoint, key string) (Forward, error)
}

// SetupConfig describes a [Setup].
type SetupConfig struct {
	File    string        // config.yaml; empty standing alone
	Wait    time.Duration // how long the file may take to appear, from [NewSetup] on
	Secrets string        // the folder of files of secrets; empty without one
	Launch  Launch        // what is known of the start of codex; Provider holds where there is no File
	Trusted string        // the file that notes for which .codex the operator's trust is; empty notes nothing
	Fixed   bool          // Launch.Provider holds whatever the files say
	Logins  *Logins       // nil where codex's login is nobody's business but its own
	Forward Renewer       // nil lets codex have the key
	Port    int           // that is listened on, if config.yaml has a say in it
	Redact  func(...string)
	// Replaced is called when codex has to be started anew before it reads what the work directory
	// brings, since commands that run can write that; nil is nothing.
	Replaced func()
	Logger   *slog.Logger
}

// A Setup says how codex is started in a workspace. It looks at the configuration
// anew before each start, so that one that was corrected is taken without a restart
// of ours. It may be used concurrently.
type Setup struct {
	cfg   SetupConfig
	until time.Time // when config.yaml has to be there

	preparing sync.Mutex // held by Prepare
	installed bool       // the login is in its place; guarded by preparing
	doubted   []string   // the warnings that were logged last of codex's own configuration; guarded by preparing

	mu      sync.Mutex // guards the fields below
	config  Config
	problem string
	answers Provider // as codex was last started; zero before
	told    []string // the warnings that were logged last
	opened  []string // and those of what the work directory has come to bring
	// settings is the .codex of the work directory as codex was last started; nil before
	settings *settingsFolder
	linked   []string // the folders whose .codex has been seen with links
	written  []string // what commands of that codex write by the operator's leave
	read     bool
	known    chan struct{} // closed when the configuration has been read for the first time
}

// NewSetup returns a Setup. The wait for config.yaml begins.
func NewSetup(cfg SetupConfig) *Setup {
	if cfg.Redact == nil {
		cfg.Redact = func(...string) {}
	}
	s := &Setup{cfg: cfg, until: time.Now().Add(cfg.Wait), config: DefaultConfig(), known: make(chan struct{})}
	if cfg.File == "" {
		s.read = true
		close(s.known)
		return s
	}
	s.problem = cfg.File + " has not been read yet"
	return s
}

// Known is closed when the configuration has been read, be it good or bad.
func (s *Setup) Known() <-chan struct{} { return s.known }

// Config returns the configuration as it was last read; the defaults before, and
// where it cannot be read.
func (s *Setup) Config() Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.config
}

// Provider returns who answers in the codex that was started last; the zero value before
// the first.
func (s *Setup) Provider() Provider {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answers
}

// Problem says why no turn can be started, for readiness, for the platform and for
// whoever sends a message; empty if nothing speaks against it. It holds no secret.
func (s *Setup) Problem() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.problem
}

// Prepare returns how codex is started now. The error is a [*Problem].
func (s *Setup) Prepare(ctx context.Context) (Launch, error) {
	s.preparing.Lock()
	defer s.preparing.Unlock()
	launch, err := s.prepare(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problem = ""
	if err != nil {
		s.problem = err.Error()
	} else {
		s.answers = launch.Provider
	}
	return launch, err
}

func (s *Setup) prepare(ctx context.Context) (Launch, error) {
	launch := s.cfg.Launch
	if s.cfg.File != "" {
		config, warnings, err := AwaitConfig(ctx, s.cfg.File, s.until)
		secrets, more, missed := SecretFiles(s.cfg.Secrets, launch.User)
		if ctx.Err() != nil {
			return launch, context.Cause(ctx)
		}
		if s.cfg.Port != 0 && err == nil && config.A2A.Port != s.cfg.Port {
			more = append(more, Warning{File: s.cfg.File, Text: fmt.Sprintf("a2a.port: %d is not in force, as %d was listened on before this was read", config.A2A.Port, s.cfg.Port)})
		}
		s.note(config, append(warnings, more...), err)
		if err = cmp.Or(err, missed); err != nil {
			return launch, err
		}
		launch.Environ = WithSecrets(launch.Environ, secrets)
		s.hide(launch.Environ, secrets)
		if launch.Provider, err = s.provider(ctx, config, launch); err != nil {
			return launch, err
		}
	}
	_ = Occupy(launch.WorkDir, launch.User) // it is tried before each turn, and said then
	if err := launch.readConfig(); err != nil {
		return launch, err
	}
	folder := launch.settingsFolder()
	s.holdSettings(folder)
	s.mu.Lock()
	launch.had = s.linked
	s.mu.Unlock()
	err := launch.judge(s.cfg.Trusted, folder, true)
	s.mu.Lock()
	s.linked = launch.had
	s.mu.Unlock()
	if err != nil {
		return launch, err
	}
	s.noteWritten(launch)
	s.tell(&s.doubted, launch.doubts())
	login, _ := launch.login() // one that cannot be read cannot be shown either
	s.cfg.Redact(login.Secrets()...)
	return launch, s.forward(&launch)
}

// provider chooses who answers, once codex's login is in its place.
func (s *Setup) provider(ctx context.Context, config Config, launch Launch) (Provider, error) {
	if s.cfg.Fixed {
		return launch.Provider, nil
	}
	env := lookup(launch.Environ)
	if s.cfg.Logins != nil && !s.installed {
		err := s.cfg.Logins.Install(ctx, env)
		switch {
		case errors.Is(err, regular.ErrHeld):
			s.cfg.Logger.Warn("the login could not be brought up to date; this is tried again at codex's next start", "err", err)
		case err != nil:
			return Provider{}, &Problem{What: err.Error(), Fix: "make room for it, and let this user write there"}
		}
		s.installed = err == nil
	}
	return choose(config, env, launch)
}

// choose has the registry decide.
func choose(config Config, env func(string) string, launch Launch) (Provider, error) {
	login, err := launch.login()
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrNoLogin) {
		return Provider{}, &Problem{What: err.Error(), Fix: "let this user read codex's login"}
	}
	if err != nil { // doctor asks before anything has been written
		login, _ = LookAtLogin([]byte(first(loginVariables(), env))) // none
	}
	choice, err := provider.Resolve(provider.Input{
		Env: env, Login: login.ChatGPT, File: config.File, Model: config.Model, Provider: config.Provider, Own: config.Providers,
	})
	if wrong, ok := errors.AsType[*provider.Error](err); ok {
		return Provider{}, &Problem{What: wrong.What, Fix: wrong.Fix}
	}
	return Chosen(choice, config.Providers, login.ChatGPT), err
}

// forward has codex ask the endpoint by way of the forwarder, which keeps the key from it.
func (s *Setup) forward(l *Launch) error {
	if s.cfg.Forward == nil || !l.Provider.Forwards() {
		return nil
	}
	key := ""
	if l.Provider.sendsKey() {
		key = strings.TrimSpace(lookup(l.Environ)(l.Provider.KeyName))
	}
	var err error
	if l.Provider.Forward, err = s.cfg.Forward.Renew(l.Provider.URL(), key); err != nil {
		return &Problem{What: err.Error(), Fix: "correct the base URL of the provider " + l.Provider.Name}
	}
	s.cfg.Redact(l.Provider.Forward.Token)
	return nil
}

// note keeps what was read, and logs what is new about it.
func (s *Setup) note(config Config, warnings []Warning, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.config = config
		s.cfg.Redact(config.Secrets...)
	}
	s.tell(&s.told, warnings)
	if !s.read {
		s.read, s.problem = true, ""
		if err != nil {
			s.problem = err.Error()
		}
		close(s.known)
	}
}

// tell logs warnings that are not those that were told last.
func (s *Setup) tell(last *[]string, warnings []Warning) {
	texts := make([]string, 0, len(warnings))
	for _, w := range warnings {
		texts = append(texts, w.String())
	}
	if slices.Equal(texts, *last) {
		return
	}
	*last = texts
	for _, w := range warnings {
		s.cfg.Logger.Warn("doubtful configuration", "at", position(w.File, w.Line), "doubt", w.Text)
	}
}

// hide has secrets kept out of the log: those of files, and keys of providers.
func (s *Setup) hide(environ, secrets []string) {
	s.cfg.Redact(Credentials(environ, s.Config().Providers)...)
	for _, kv := range secrets {
		_, value, _ := strings.Cut(kv, "=")
		s.cfg.Redact(value)
	}
}

// nowhere is the way to the endpoint of a codex that asks no model: like [Setup.Prepare]'s it
// keeps the key from codex, and nothing listens there.
func nowhere() Forward { return Forward{URL: "http://127.0.0.1:1", Token: "opens-nothing"} }

// Look returns how codex would be started, for checks: it waits for nothing, writes
// nothing, and what is started so has no key and asks no model.
func Look(cfg SetupConfig) (Launch, Config, []Warning, error) {
	launch, config := cfg.Launch, DefaultConfig()
	var warnings []Warning
	var err error
	if cfg.File != "" {
		config, warnings, err = ReadConfig(cfg.File)
		secrets, more, missed := SecretFiles(cfg.Secrets, launch.User)
		launch.Environ, warnings = WithSecrets(launch.Environ, secrets), append(warnings, more...)
		if err = cmp.Or(err, missed); err == nil && !cfg.Fixed {
			launch.Provider, err = choose(config, lookup(launch.Environ), launch)
		}
	}
	if launch.Provider.Forwards() {
		launch.Provider.Forward = nowhere()
	}
	folder := launch.settingsFolder()
	folder.close()
	err = cmp.Or(err, launch.readConfig(), launch.judge(cfg.Trusted, folder, false))
	return launch, config, append(warnings, launch.doubts()...), err
}
