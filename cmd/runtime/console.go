package main

import (
	"cmp"
	"context"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/console"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/refusals"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// console makes the page for people.
func (app *application) console(s settings.Settings, environ []string, journal *store.Store, refused *refusals.Refusals) (*console.Console, error) {
	look := &overview{
		app: app, s: s, started: time.Now().UTC().Truncate(time.Second), threads: keptThreads{journal: journal}, account: newAccountLook(app.executor),
	}
	app.goOn(func(ctx context.Context) { look.account.run(ctx, app.log) })
	return console.New(console.Config{
		State: look.state, Tasks: consoleTasks{app.engine},
		Doctor: func(ctx context.Context) []console.Check {
			return doctorChecks(examine(ctx, ways()["serve"], s, environ), app.redact.String)
		},
		Token: s.Token.Reveal(), Refusals: refused, Version: version, Workspace: s.InWorkspace(), Logger: app.log,
	})
}

// doctorChecks is a report of doctor's as the console has it.
func doctorChecks(report preflight.Report, redact func(string) string) []console.Check {
	all := make([]console.Check, 0, len(report.Results))
	for _, r := range report.Results {
		all = append(all, console.Check{
			Name: r.Name, OK: r.Status != preflight.Fail, Status: string(r.Status), Message: redact(r.Detail), Hint: redact(r.Fix),
		})
	}
	return all
}

// A consoleTasks is the tasks as the console lists them.
type consoleTasks struct{ engine *tasks.Engine }

// Newest implements [console.Tasks].
func (l consoleTasks) Newest(ctx context.Context, n int) ([]console.Task, error) {
	briefs, err := l.engine.Newest(ctx, n)
	return taskLines(briefs), err
}

// Watch implements [console.Tasks].
func (l consoleTasks) Watch() console.Watch { return consoleWatch{l.engine.Watch()} }

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

// An overview gathers what the console shows.
type overview struct {
	app     *application
	s       settings.Settings
	started time.Time
	threads keptThreads
	account *accountLook
}

// state implements [console.Config].State. It waits neither for codex nor for the network.
func (o *overview) state(ctx context.Context) console.State {
	health, now := o.app.executor.Health(), o.app.executor.Overview()
	ready := o.app.ready.Glance()
	o.account.want(health.Child.Pid, health.Hold != nil)
	state := console.State{
		Version: version, Codex: health.Child.Version, StartedAt: o.started, Scripted: o.s.Scripted(), WorkDir: o.s.WorkDir,
		Model:    console.Model{Name: now.Model, Provider: o.provider(health)},
		Policy:   console.Policy{Sandbox: o.s.Sandbox, Approval: o.s.ApprovalPolicy},
		Ready:    console.Ready{OK: ready.OK},
		Child:    o.child(health.Child),
		Account:  accountOf(health.Account, now.Email),
		Platform: o.platform(),
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
		state.Hold = &console.Hold{Reason: o.app.redact.String(hold.Words()), Until: hold.Until}
	}
	if login := now.Login; login != nil {
		state.Login = &console.Login{URL: login.URL, Code: login.Code, ExpiresAt: login.Expires}
	}
	state.Queue.Contexts = queues(now.Conversations)
	state.Threads = o.threads.with(ctx, now.Conversations)
	return state
}

// provider says who answers; nobody knows before codex was started.
func (o *overview) provider(health executor.Health) string {
	if health.Child.Pid == 0 && o.app.setup.Problem() != "" {
		return ""
	}
	return o.app.redact.String(o.app.setup.Provider().Describe())
}

func (o *overview) child(health executor.ChildHealth) console.Child {
	child := console.Child{State: health.State, Pid: health.Pid, Restarts: health.Restarts, Error: o.app.redact.String(health.Error)}
	if health.Pid != 0 {
		child.StartedAt, child.MemoryBytes = health.Since.UTC(), childMemory(health.Pid)
	}
	return child
}

// childMemory is what codex itself has in memory, in whole MiB: what is less is no news.
func childMemory(pid int) int64 {
	m, _ := appserver.MemoryOf(pid)
	return m.Codex >> 20 << 20
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

func (o *overview) platform() *console.Platform {
	if o.app.member == nil {
		return nil
	}
	status := o.app.member.presence.Status()
	return &console.Platform{
		Workspace: o.s.WorkspaceID, URL: o.s.PlatformURL, Registered: status.Registered, LastBeat: status.LastBeat,
		Error: o.app.redact.String(cmp.Or(status.BeatError, status.Refused)),
	}
}
