package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

// accountLimit is what codex gets to start and to say who it is logged in as.
const accountLimit = 15 * time.Second

// noRefresh keeps a codex from renewing its login: at its mere start one that is
// about to expire would be (seen on 0.169.0), and a refresh token works once. The
// codex of a runtime beside us would be left with one that does not.
const noRefresh = "CODEX_REFRESH_TOKEN_URL_OVERRIDE=http://127.0.0.1:1/"

// accountCheck asks a codex of its own who it is logged in as, and changes nothing.
func accountCheck(s settings.Settings, environ []string, at scratch) preflight.Check {
	return preflight.Check{Name: "account", Run: func(ctx context.Context) preflight.Result {
		if s.Scripted() {
			return preflight.Result{Status: preflight.OK, Detail: "none needed"}
		}
		ctx, cancel := context.WithTimeout(ctx, accountLimit)
		defer cancel()
		start, _, _, err := adapter.Look(setupConfig(s, environ, ""))
		if err != nil {
			return preflight.Result{Status: preflight.Warn, Detail: "codex is not asked", Fix: "see the check configuration"}
		}
		if inKeyring(s) {
			return preflight.Result{
				Status: preflight.Warn, Detail: "codex is not asked: its login is in the keyring, where only a codex that works in " + s.CodexHome + " finds it",
				Fix: "codex login status says whether there is one",
			}
		}
		return accountResult(readAccount(ctx, s, start, at))
	}}
}

// startForDoctor starts a codex for one question.
func startForDoctor(ctx context.Context, s settings.Settings, start adapter.Launch, at scratch) (*appserver.Client, error) {
	return appserver.Start(ctx, appserver.Config{
		Bin: s.CodexBin, Args: start.Args(), Env: append(at.env(start.Env()), noRefresh), Dir: at.or(start.Dir()), User: s.User,
		ClientName: "molecule-codex-runtime-doctor", ClientVersion: version,
	})
}

func readAccount(ctx context.Context, s settings.Settings, start adapter.Launch, at scratch) (status appserver.AccountStatus, err error) {
	codex, err := startForDoctor(ctx, s, start, at)
	if err != nil {
		return status, err
	}
	defer func() { err = errors.Join(err, codex.Close()) }()
	return codex.AccountRead(ctx, false)
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

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
