package doctor

import (
	"context"
	"errors"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextools"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/launch"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

// noRefresh keeps a codex from renewing its login: at its mere start one that is
// about to expire would be (seen on 0.169.0), and a refresh token works once. The
// codex of a runtime beside us would be left with one that does not.
const noRefresh = "CODEX_REFRESH_TOKEN_URL_OVERRIDE=http://127.0.0.1:1/"

// startCodex starts a codex for one question.
func startCodex(ctx context.Context, c Case, start adapter.Launch, at scratch) (*appserver.Client, error) {
	s := c.Settings
	return appserver.Start(ctx, appserver.Config{
		Bin: s.CodexBin, Args: start.Args(), Env: append(at.env(start.Env()), noRefresh), Dir: at.or(start.Dir()), User: s.User,
		ClientName: "molecule-codex-runtime-doctor", ClientVersion: c.Version,
	})
}

func readAccount(ctx context.Context, c Case, start adapter.Launch, at scratch) (status appserver.AccountStatus, err error) {
	codex, err := startCodex(ctx, c, start, at)
	if err != nil {
		return status, err
	}
	defer func() { err = errors.Join(err, codex.Close()) }()
	return codex.AccountRead(ctx, false)
}

// tryDynamic has a codex of its own start a thread with the tools.
func tryDynamic(ctx context.Context, c Case, at scratch) (n int, err error) {
	s := c.Settings
	start, _, _, err := adapter.Look(launch.Setup(s, c.Environ, ""))
	if err != nil { // how codex would be started is not known
		return 0, err
	}
	codex, err := startCodex(ctx, c, start, at)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, codex.Close()) }()
	tools := codextools.Dynamic(theTools(s))
	_, err = codex.ThreadStart(ctx, appserver.ThreadStartParams{
		Cwd: s.WorkDir, Ephemeral: true, DynamicTools: tools, Config: start.Untrusted(),
		Sandbox: appserver.SandboxMode(s.Sandbox), ApprovalPolicy: appserver.ApprovalPolicy(s.ApprovalPolicy),
	})
	return len(tools), err
}

// accountResult says it without a secret, and without whose account it is.
func accountResult(status appserver.AccountStatus, err error) preflight.Result {
	refused := new(appserver.RPCError)
	switch {
	case errors.As(err, &refused):
		return preflight.Result{
			Status: preflight.Warn, Detail: "codex cannot tell: " + refused.Message,
			Fix: "with a ChatGPT login codex asks the network who it is: look whether it is reachable",
		}
	case err != nil:
		return preflight.Result{Status: preflight.Warn, Detail: "codex could not be asked: " + firstLine(err), Fix: "see the check codex"}
	case status.Account == nil && status.RequiresOpenaiAuth:
		return preflight.Result{
			Status: preflight.Fail, Detail: "codex has no login, or one that has expired",
			Fix: "set OPENAI_API_KEY, or log in with codex login; a task that is sent meanwhile gives a link",
		}
	case status.Account == nil:
		return preflight.Result{Status: preflight.OK, Detail: "the model's provider asks for no login of codex"}
	}
	detail := status.Account.Type
	if status.Account.PlanType != "" {
		detail += ", plan " + status.Account.PlanType
	}
	if _, domain, ok := strings.Cut(status.Account.Email, "@"); ok {
		detail += ", of " + domain
	}
	return preflight.Result{Status: preflight.OK, Detail: detail}
}
