package host

import (
	"context"
	"fmt"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/attachments"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codexfit"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/launch"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/metrics"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/wirelog"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// A Ground is what turns stand on: how codex is started, and the state.
type Ground struct {
	*Watch
	Codex   *launch.Codex
	Journal *store.Store
	Fleet   *fleet.Fleet // nil where commands run here
	Files   *attachments.Shared
	Heard   *Heard
	Wire    *wirelog.Recorder // nil unless codex's messages are to be kept

	turns Later[Turns]
}

// Identity is what the agent says of itself, with the codex that runs.
func (g *Ground) Identity() adapter.Identity {
	id := g.Options.Identity()
	turns := g.turns.Get()
	if turns == nil {
		return id
	}
	id.Codex = turns.Executor.Health().Child.Version
	id.CodexNote = codexfit.Untried(id.Codex)
	return id
}

// A StateError says that the state cannot be used.
type StateError struct{ Err error }

// Error implements error.
func (e *StateError) Error() string { return e.Err.Error() }

// Unwrap returns what the store says.
func (e *StateError) Unwrap() error { return e.Err }

// OpenGround makes it, for a command. logins gives codex's logins out; it is nil where there is no platform for that. An error of the
// state is a [StateError].
func OpenGround(ctx context.Context, life *Life, w *Watch, command string, logins adapter.Secrets) (*Ground, error) {
	s := w.Settings
	scripted, err := openScripted(life, s.Scripted())
	if err != nil {
		return nil, err
	}
	codex, err := launch.Open(launch.Config{
		Settings: s, Environ: w.Environ, Version: w.Version, ScriptedURL: scripted, Platform: logins, Redact: w.Redact, Logger: w.Logger,
	})
	if err != nil {
		return nil, err
	}
	life.Opened(codex)
	g := &Ground{Watch: w, Codex: codex, Heard: &Heard{}, Wire: w.openWire(life)}
	g.Journal, err = store.Open(ctx, store.Config{Dir: s.StateDir, What: command, Holds: s.WorkspaceIDs(), Also: []string{s.CodexHome}, Timed: metrics.Commits(w.Registry), Logger: w.Logger})
	if err != nil {
		return nil, &StateError{err}
	}
	life.Opened(g.Journal)
	w.Registry.MustRegister(metrics.NewState(g.Journal))
	g.Files = attachments.Share(s, g.Journal, w.Logger)
	life.Opened(g.Files)
	if g.Fleet, err = openFleet(ctx, life, g); err != nil {
		return nil, err
	}
	return g, nil
}

// Turns is how turns are made on this ground.
func (g *Ground) Turns() launch.Turns {
	var recorder launch.Recorder
	if g.Wire != nil {
		recorder = g.Wire
	}
	t := g.Codex.Turns(g.Metrics, recorder)
	t.Codex.Journal = launch.Memory(g.Journal)
	if g.Fleet != nil {
		t.Codex.Machines = g.Fleet
	}
	t.Executor.Journal, t.Executor.Trace = tasks.Book(g.Journal), g.Traces.Attempts()
	return t
}

// openScripted starts the built-in model, if that is to answer, and says where it listens.
func openScripted(life *Life, wanted bool) (url string, err error) {
	if !wanted {
		return "", nil
	}
	model, err := fakemodel.Listen(fakemodel.BuiltIn)
	if err != nil {
		return "", fmt.Errorf("the built-in scripted model: %w", err)
	}
	life.Opened(modelCloser{model})
	return model.BaseURL(), nil
}

type modelCloser struct{ model *fakemodel.Running }

func (m modelCloser) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return m.model.Close(ctx)
}
