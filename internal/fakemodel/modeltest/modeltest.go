// Package modeltest starts scripted models in tests. It stands apart from
// package fakemodel so that package testing stays out of the shipped binary.
package modeltest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
)

// A Model is a scripted model that ends with its test.
type Model struct {
	*fakemodel.Server
	running *fakemodel.Running
}

// Start serves script until the test ends. The model records what it is asked.
func Start(tb testing.TB, script fakemodel.Script) *Model {
	tb.Helper()
	server := fakemodel.New(script)
	running, err := fakemodel.Serve(server)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := running.Close(ctx); err != nil {
			tb.Errorf("modeltest: %v", err)
		}
	})
	return &Model{Server: server, running: running}
}

// URL is where the model listens, without a path.
func (m *Model) URL() string { return m.running.URL() }

// BaseURL is the base_url of a codex provider: [Model.URL] and /v1.
func (m *Model) BaseURL() string { return m.running.BaseURL() }

// KeyVar is the variable that holds the key of the provider that
// [Model.Overrides] configures. Any value will do.
const KeyVar = "FAKE_KEY"

// Overrides are the arguments that make codex use the model: -c pairs, to stand
// before or after the subcommand app-server. Retries are off so that a failure
// shows at once; [Model.Env] must be in the child's environment.
func (m *Model) Overrides() []string {
	return []string{
		"-c", `model_provider="fake"`,
		"-c", fmt.Sprintf(`model_providers.fake={name="fake",base_url=%q,env_key=%q,wire_api="responses",request_max_retries=0,stream_max_retries=0}`,
			m.BaseURL(), KeyVar),
		// As the runtime has them: each thread would start a shell for the first, each process git for the second.
		"-c", "features.shell_snapshot=false", "-c", "features.plugins=false",
	}
}

// Env is the environment entry that [Model.Overrides] asks for.
func (m *Model) Env() string { return KeyVar + "=scripted" }
