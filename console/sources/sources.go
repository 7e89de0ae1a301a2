// Package sources has what the console shows, out of the parts of a runtime that know it. Nothing of it waits for codex or
// for the network.
package sources

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/adapter/presence"
	"github.com/Molecule-AI/molecule-codex-runtime/console"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codexfit"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/readiness"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/resident"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// Checks is a report of doctor's as the console has it.
func Checks(report preflight.Report, redact func(string) string) []console.Check {
	all := make([]console.Check, 0, len(report.Results))
	for _, r := range report.Results {
		all = append(all, console.Check{
			Name: r.Name, OK: r.Status != preflight.Fail, Status: string(r.Status), Message: redact(r.Detail), Hint: redact(r.Fix),
		})
	}
	return all
}

// Tasks is the tasks as the console lists them.
type Tasks struct{ Engine *tasks.Engine }

// Newest implements [console.Tasks].
func (l Tasks) Newest(ctx context.Context, n int) ([]console.Task, error) {
	briefs, err := l.Engine.Newest(ctx, n)
	return taskLines(briefs), err
}

// Watch implements [console.Tasks].
func (l Tasks) Watch() console.Watch { return consoleWatch{l.Engine.Watch()} }

type consoleWatch struct{ *tasks.Watch }

// Take implements [console.Watch].
func (w consoleWatch) Take() ([]console.Task, bool) {
	briefs, lost := w.Watch.Take()
	return taskLines(briefs), lost
}

func taskLines(briefs []tasks.Brief) []console.Task {
	all := make([]console.Task, 0, len(briefs))
	for _, b := range briefs {
		all = append(all, console.Task{
			ID: string(b.ID), ContextID: b.ContextID, State: string(b.State), Title: b.Title, Caller: b.Caller,
			UpdatedAt: b.At, Ahead: b.Ahead, Question: b.Asks(),
		})
	}
	return all
}

// Config is what an overview is gathered from.
type Config struct {
	Settings settings.Settings
	Version  string
	Executor *executor.Executor
	Account  AccountHolder
	Journal  *store.Store
	Ready    *readiness.Readiness
	Setup    *adapter.Setup
	Presence *presence.Presence // nil standing alone
	Machines Machines           // that commands run on; nil where they run here
	Redact   func(string) string
	Logger   *slog.Logger
}

// An Overview gathers how the runtime stands.
type Overview struct {
	Config
	s       settings.Settings
	started time.Time
	threads keptThreads
	account *accountLook
}

// New returns that of cfg, which begins now.
func New(cfg Config) *Overview {
	return &Overview{
		Config: cfg, s: cfg.Settings, started: time.Now().UTC().Truncate(time.Second),
		threads: keptThreads{journal: cfg.Journal}, account: newAccountLook(cfg.Account),
	}
}

// Run asks codex for its account, while the overview is looked at, until ctx ends.
func (o *Overview) Run(ctx context.Context) { o.account.run(ctx, o.Logger) }

// State implements [console.Config].State. It waits neither for codex nor for the network.
func (o *Overview) State(ctx context.Context) console.State {
	health, now := o.Executor.Health(), o.Executor.Overview()
	ready := o.Ready.Glance()
	o.account.want(health.Child.Pid, health.Hold != nil)
	state := console.State{
		Version: o.Version, Codex: health.Child.Version, CodexNote: codexfit.Untried(health.Child.Version), StartedAt: o.started, Scripted: o.s.Scripted(), WorkDir: o.s.WorkDir,
		Model:    console.Model{Name: now.Model, Provider: o.provider(health)},
		Policy:   console.Policy{Sandbox: o.s.Sandbox, Approval: o.s.ApprovalPolicy},
		Ready:    console.Ready{OK: ready.OK},
		Child:    o.child(health.Child),
		Account:  accountOf(health.Account, now.Email),
		Platform: o.platform(),
		Machines: o.machines(),
		Queue:    queueOf(health),
	}
	if !ready.Checked {
		state.Ready.Checks = []console.Check{{Name: "checks", Message: "they are being made"}}
	}
	for _, check := range ready.Checks {
		state.Ready.Checks = append(state.Ready.Checks, console.Check{Name: check.Name, OK: check.OK, Message: check.Message})
	}
	for _, l := range health.Limits {
		state.Limits = append(state.Limits, console.Limit{Name: l.Name, UsedPercent: l.UsedPercent, ResetsAt: l.ResetsAt})
	}
	if hold := health.Hold; hold != nil {
		state.Hold = &console.Hold{Reason: o.Redact(hold.Words()), Until: hold.Until}
	}
	if login := now.Login; login != nil {
		state.Login = &console.Login{URL: login.URL, Code: login.Code, ExpiresAt: login.Expires}
	}
	state.Queue.Contexts = queues(now.Conversations)
	state.Threads = o.placed(o.threads.with(ctx, now.Conversations))
	return state
}

// provider says who answers; nobody knows before codex was started.
func (o *Overview) provider(health executor.Health) string {
	if health.Child.Pid == 0 && o.Setup.Problem() != "" {
		return ""
	}
	return o.Redact(o.Setup.Provider().Describe())
}

func (o *Overview) child(health executor.ChildHealth) console.Child {
	child := console.Child{State: health.State, Pid: health.Pid, Restarts: health.Restarts, Error: o.Redact(health.Error)}
	if health.Pid != 0 {
		child.StartedAt, child.MemoryBytes = health.Since.UTC(), childMemory(health.Pid)
	}
	return child
}

// childMemory is what codex itself has in memory, in whole MiB: what is less is no news.
func childMemory(pid int) int64 {
	codex, _, _ := resident.Of(pid)
	return codex >> 20 << 20
}

// accountOf says what codex is logged in with, as far as that is known.
func accountOf(account *executor.Account, email string) console.Account {
	if account == nil {
		return console.Account{}
	}
	out := console.Account{Kind: account.Kind, Plan: account.Plan, Email: email}
	switch account.Kind {
	case "none":
		out.Message = "codex has no login"
	case "provider":
		out.Message = "the model's provider asks for no login of codex"
	}
	return out
}

func (o *Overview) platform() *console.Platform {
	if o.Presence == nil {
		return nil
	}
	status := o.Presence.Status()
	return &console.Platform{
		Workspace: o.s.WorkspaceID, URL: o.s.PlatformURL, Registered: status.Registered, LastBeat: status.LastBeat,
		Error: o.Redact(cmp.Or(status.BeatError, status.Refused)),
	}
}
