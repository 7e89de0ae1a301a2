package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/presence"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextools"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/host"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/launch"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/secrets"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // it went wrong, or doctor found that it would
	exitUsage  = 2 // the arguments or the settings cannot be used
)

// A program is one run with what it was given.
type program struct {
	environ        []string
	held           error // a file of secrets could not be read; what it sets is not in environ
	stdin          io.ReadCloser
	stdout, stderr io.Writer
	unsaid         error // why something could not be printed
}

// logged runs what logs, with the doubts about its settings, until it ends. What reads the log
// may stand still meanwhile, or end.
func (p *program) logged(s settings.Settings, warnings []settings.Warning, work func(*slog.Logger, *logging.Redactor) error) int {
	level, err := logging.Level(s.Log)
	if err != nil {
		return p.fail(err)
	}
	defer p.outliveReaders()()
	redact := secrets.Of(s, p.environ)
	log := logging.New(p.stderr, level, redact)
	for _, w := range warnings {
		log.Warn("doubtful setting", "variable", w.Name, "doubt", w.Text)
	}
	err = work(log, redact)
	if err == nil || errors.Is(err, presence.ErrDeleted) || errors.Is(err, context.Canceled) { // what there is to say is in the log
		return exitOK
	}
	return p.fail(errors.New(redact.String(err.Error())))
}

// load reads the settings, and says what is wrong with them.
func (p *program) load() (settings.Settings, []settings.Warning, bool) {
	s, warnings, err := settings.Load(p.environ)
	if err == nil && s.InWorkspace() { // its files say more
		p.environ, p.held = launch.WithFiles(s, p.environ)
		s, warnings, err = settings.Load(p.environ)
	}
	return s, warnings, p.usable(err)
}

// usable says what is wrong with settings, and reports whether nothing is.
func (p *program) usable(err error) bool {
	for _, problem := range settings.Problems(err) {
		p.complain(problem.What, problem.Hint)
	}
	return err == nil
}

func (p *program) fail(err error) int {
	p.complain(err.Error(), "runtime doctor checks what a turn needs")
	return exitFailed
}

// complain says a problem, in which others' words may stand, and what to do about it.
func (p *program) complain(problem, hint string) {
	_, _ = fmt.Fprintf(p.stderr, "runtime: %s\n  hint: %s\n", brief.Plain(problem), brief.Plain(hint))
}

func (p *program) print(text string) {
	_, err := p.stdout.Write([]byte(text))
	p.unsaid = cmp.Or(p.unsaid, err)
}

// json takes all JSON that is printed. It is for programs, and a terminal may show it.
func (p *program) json() io.Writer { return plainJSON{p.stdout} }

// A plainJSON is given whole values.
type plainJSON struct{ to io.Writer }

func (w plainJSON) Write(text []byte) (int, error) {
	if _, err := io.WriteString(w.to, brief.JSON(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// printJSON prints a value on as many lines as it has members.
func (p *program) printJSON(v any) int {
	enc := json.NewEncoder(p.json())
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return p.fail(err)
	}
	return exitOK
}

// options are what a runtime is built by.
func (p *program) options(s settings.Settings, log *slog.Logger, redact *logging.Redactor) host.Options {
	return host.Options{Settings: s, Environ: p.environ, Variables: codextools.Identity(os.Getenv), Version: version, Redact: redact, Logger: log}
}
