package main

import (
	"log/slog"
	"net"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/server"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// startWait is how long messages whose senders do not wait for an answer wait for a codex that cannot
// be started: longer than npm takes to replace it, or a slow disk to be mounted.
const startWait = 2 * time.Minute

func executorConfig(
	s settings.Settings, base base, log *slog.Logger, redact *logging.Redactor,
) executor.Config {
	cfg := executor.Config{
		Child: appserver.Config{
			Bin: s.CodexBin, Dir: launch(s, nil, "").Dir(), User: s.User, Through: base.fence.Argv, OwnMounts: base.fence.OwnMounts,
			ClientName: "molecule-codex-runtime", ClientVersion: version,
		},
		Thread: appserver.ThreadStartParams{
			Cwd: s.WorkDir, ApprovalsReviewer: "user",
			ApprovalPolicy: appserver.ApprovalPolicy(s.ApprovalPolicy),
			Sandbox:        appserver.SandboxMode(s.Sandbox),
		},
		MaxTurns: s.MaxTurns, MaxQuestions: s.MaxQuestions, MaxQueue: s.MaxQueue, MaxThreads: s.MaxThreads,
		MaxAsked: s.MaxContextQuestions, MaxBytes: int64(s.MaxQueueMiB) << 20,
		TurnTimeout: s.TurnTimeout, IdleTimeout: s.IdleTimeout, ItemTimeout: s.ItemTimeout,
		QuestionTTL:  s.QuestionTTL,
		StartWait:    startWait,
		Rules:        s.Rules == "callers",
		Open:         commandsMayCall(s),
		RefreshEvery: refreshEvery(s),
		Apart:        slices.Concat(s.Apart(), s.Programs(), ownProgram(s)),
		Redact:       redact.String, Hide: redact.Known, Metrics: base.metrics, Logger: log,
	}
	if wire := base.wire; wire != nil {
		cfg.Child.Wire, cfg.Recorder = wire, wire
	}
	return cfg
}

// commandsMayCall reports whether codex's commands, if they have the network, are let in as callers of
// this machine: where those need to show nothing, for the console asks for nothing but RUNTIME_TOKEN,
// and where the platform's secret will do, too, which is kept from no command of our own user. A
// channel has no callers.
func commandsMayCall(s settings.Settings) bool {
	return len(s.Spaces) == 0 && (!s.Token.Set() || s.InWorkspace() && s.User == nil)
}

// refreshEvery is how often codex's login is renewed, if that is ours to do.
func refreshEvery(s settings.Settings) time.Duration {
	if !s.OwnsLogin {
		return 0
	}
	return time.Hour
}

// bounds is what messages may ask for: what the operator has set, or less.
func bounds(s settings.Settings) tasks.Bounds {
	return tasks.Bounds{
		WorkDir: s.WorkDir, Sandbox: agent.Sandbox(s.Sandbox), ApprovalPolicy: agent.ApprovalPolicy(s.ApprovalPolicy),
		Exposed: s.Exposed,
	}
}

// cardIdentity is what the agent says of itself.
func cardIdentity(s settings.Settings) adapter.Identity {
	return adapter.Identity{
		Version: version, Sandbox: s.Sandbox, SandboxNote: s.SandboxNote, Scripted: s.Scripted(), Token: s.Token.Set(), Push: s.Push, Files: s.HandsOutFiles(),
		Extensions: extensions(),
	}
}

func serverConfig(s settings.Settings, app *application, base base, log *slog.Logger) server.Config {
	identity := func() adapter.Identity { return cardIdentity(s) }
	if app.member != nil { // the platform and direct callers are shown the same agent
		identity = app.member.identity
	}
	card := func(baseURL string) *a2a.AgentCard { return adapter.Card(identity(), baseURL) }
	cfg := server.Config{
		Handler: app.handler,
		// The card has no secrets; who asks for the extended one by 0.3 gets the same.
		Card: card, ExtendedCard: card,
		PublicURL: s.PublicURL, PureCard: s.Card == "1.0",
		ReplyAsMessage: s.Reply == "message", Reply: tasks.Reply, Platform: app.platformSide(s),
		Token: s.Token.Reveal(), Refusals: base.refusals, AnyHost: anyHost(s), Methods: app.methods(),
		Ready: app.ready.Get, Registry: base.registry, Metrics: base.metrics, Logger: log,
	}
	if app.member != nil {
		cfg.AllowedHosts = ownNames(app.member.url)
	}
	if app.kept != nil {
		cfg.Kept = app.kept
	}
	return cfg
}

// ownNames are the names by which a workspace is registered, which peers call it by.
func ownNames(registered string) []string {
	u, err := url.Parse(registered)
	if err != nil || u.Host == "" {
		return nil
	}
	return []string{u.Host}
}

// anyHost reports whether some requests are taken whatever name they call us by; see
// [server.Config]. A listener beyond loopback is called by names that only its operator
// knows, and so is one that asks for a token: something may stand in front of it.
func anyHost(s settings.Settings) bool {
	host, _, err := net.SplitHostPort(s.Addr)
	ip := net.ParseIP(host)
	loopback := host == "localhost" || ip != nil && ip.IsLoopback()
	return s.InWorkspace() || s.Token.Set() || err == nil && !loopback
}

// ownProgram is where this program lies, which codex starts with each conversation for the tools of the
// workspace by MCP.
func ownProgram(s settings.Settings) []settings.Place {
	self, err := os.Executable()
	if err != nil || s.Tools != toolsMCP || !s.InWorkspace() {
		return nil
	}
	return []settings.Place{{Name: "runtime mcp", Path: self}}
}
