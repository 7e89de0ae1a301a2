package appserver

import "context"

// A TurnEnvironment is where commands of a thread run, from a turn on: one of codex's remote environments, and a
// folder there.
type TurnEnvironment struct {
	ID    string   `json:"environmentId"`
	Cwd   string   `json:"cwd"`
	Roots []string `json:"runtimeWorkspaceRoots,omitempty"` // writable in workspace-write; without them Cwd is the one
}

// environments are the member of the calls that take them. Without any the thread works where it did.
type environments struct {
	Environments []TurnEnvironment `json:"environments,omitempty"`
}

type placedThread struct {
	ThreadStartParams
	environments
}

type placedTurn struct {
	TurnStartParams
	environments
}

// EnvironmentAddParams name an exec-server to codex, which connects to it in the background. The same id again
// replaces the URL, also for threads that use it.
type EnvironmentAddParams struct {
	ID    string `json:"environmentId"`
	URL   string `json:"execServerUrl"`
	Token string `json:"authBearerToken,omitempty"`
}

// EnvironmentInfo waits until a remote environment is connected. Before that the model is told that there is none.
func (c *Client) EnvironmentInfo(ctx context.Context, id string) error {
	return c.Call(ctx, "environment/info", environmentParams{ID: id}, nil)
}

type environmentParams struct {
	ID string `json:"environmentId"`
}

// EnvironmentAdd makes a remote environment known, for as long as the child lives.
func (c *Client) EnvironmentAdd(ctx context.Context, params EnvironmentAddParams) error {
	return c.Call(ctx, "environment/add", params, nil)
}
