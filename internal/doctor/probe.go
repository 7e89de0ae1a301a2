package doctor

import (
	"context"
	"errors"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextools"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/launch"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

// noRefresh keeps a codex from renewing its login: at its mere start one that is
// about to expire would be (seen on 0.169.0), and a refresh token works once. The
// codex of a runtime beside us would be left with one that does not.
const noRefresh = "CODEX_REFRESH_TOKEN_URL_OVERRIDE=http://127.0.0.1:1/"

// process is how a codex is started for one question.
func process(c Case, start adapter.Launch, at scratch) codex.Process {
	s := c.Settings
	return codex.Process{
		Bin: s.CodexBin, Args: start.Args(), Env: append(at.env(start.Env()), noRefresh), Dir: at.or(start.Dir()), User: s.User,
		ClientName: "molecule-codex-runtime-doctor", ClientVersion: c.Version,
	}
}

// tryDynamic has a codex of its own start a thread with the tools.
func tryDynamic(ctx context.Context, c Case, at scratch) (n int, err error) {
	s := c.Settings
	start, _, _, err := adapter.Look(launch.Setup(s, c.Environ, ""))
	if err != nil { // how codex would be started is not known
		return 0, err
	}
	tools := codextools.Dynamic(theTools(s))
	thread := codex.Thread{
		Cwd: s.WorkDir, DynamicTools: tools, Config: start.Untrusted(),
		Sandbox: agent.Sandbox(s.Sandbox), ApprovalPolicy: agent.ApprovalPolicy(s.ApprovalPolicy),
	}
	return len(tools), at.alone(func() error { return codex.TryThread(ctx, process(c, start, at), thread) })
}

// accountResult says it without a secret, and without whose account it is.
func accountResult(account executor.Account, email string, err error) preflight.Result {
	refused, ok := errors.AsType[codex.RefusedError](err)
	switch {
	case ok:
		return preflight.Result{
			Status: preflight.Warn, Detail: "codex cannot tell: " + refused.Words,
			Fix: "with a ChatGPT login codex asks the network who it is: look whether it is reachable",
		}
	case err != nil:
		return preflight.Result{Status: preflight.Warn, Detail: "codex could not be asked: " + firstLine(err), Fix: "see the check codex"}
	case account.Kind == executor.AccountNone:
		return preflight.Result{
			Status: preflight.Fail, Detail: "codex has no login, or one that has expired",
			Fix: "set OPENAI_API_KEY, or log in with codex login; a task that is sent meanwhile gives a link",
		}
	case account.Kind == executor.AccountProvider:
		return preflight.Result{Status: preflight.OK, Detail: "the model's provider asks for no login of codex"}
	}
	detail := account.Kind
	if account.Plan != "" {
		detail += ", plan " + account.Plan
	}
	if _, domain, ok := strings.Cut(email, "@"); ok {
		detail += ", of " + domain
	}
	return preflight.Result{Status: preflight.OK, Detail: detail}
}
