package codex

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

// account is what is known of the login that codex uses, and what codex has told
// of it without being asked.
type account struct {
	mu        sync.Mutex // guards the fields below
	known     bool       // codex has been asked
	status    appserver.AccountStatus
	mode      string               // as account/updated had it
	updated   bool                 // it has changed since somebody looked
	changes   int                  // of it, and logins that have worked
	completed *appserver.LoginNote // the last login that ended, until somebody looks
}

// accountNote takes what codex says of its account.
func (d *Driver) accountNote(note appserver.Notification) {
	if err := d.account.take(note); err != nil {
		d.log.Warn("a notification of codex could not be read", "method", note.Method, "err", err)
		return
	}
	if note.Method == appserver.NoteAccountLoginComplete {
		d.loginEnded(note.Params)
	}
	d.host.News()
}

func (a *account) take(note appserver.Notification) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch note.Method {
	case appserver.NoteAccountLoginComplete:
		var n appserver.LoginNote
		if err := json.Unmarshal(note.Params, &n); err != nil {
			return err
		}
		a.completed = &n
		if n.Success {
			a.changes++
		}
	case appserver.NoteAccountUpdated: // comes also when nothing has changed
		var n struct{ AuthMode, PlanType string }
		if err := json.Unmarshal(note.Params, &n); err != nil {
			return err
		}
		if mode := n.AuthMode + " " + n.PlanType; mode != a.mode {
			a.mode, a.updated = mode, true
			a.changes++
		}
	}
	return nil
}

// news returns what has come since it was asked last: whether the account is
// another one, and the login that has ended, if one has.
func (a *account) news() (updated bool, completed *appserver.LoginNote) {
	a.mu.Lock()
	defer a.mu.Unlock()
	updated, completed = a.updated, a.completed
	a.updated, a.completed = false, nil
	return updated, completed
}

// changed counts what has made the account another one.
func (a *account) changed() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.changes
}

func (a *account) last() (status appserver.AccountStatus, known bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.status, a.known
}

// readAccount asks codex for its account, and has it renew its token before if
// refresh is set. What cannot be asked, because the network is not there, stays
// as it was.
func (d *Driver) readAccount(ctx context.Context, on *child.Child, refresh bool) (appserver.AccountStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, d.cfg.Patience)
	defer cancel()
	status, err := on.AccountRead(ctx, refresh)
	if err == nil {
		d.account.mu.Lock()
		d.account.known, d.account.status = true, status
		d.account.mu.Unlock()
	}
	return status, err
}

// LookAtAccount asks codex which account it has and, of one of ChatGPT, how much of its
// allowance is used, for those who look at [Executor.Health] and [Executor.Overview].
// Codex may ask the network for that. It does not start codex: without one it does
// nothing.
func (d *Driver) LookAtAccount(ctx context.Context) error {
	on, _ := d.child.Health()
	if on == nil {
		return nil
	}
	status, err := d.readAccount(ctx, on, false)
	if err != nil || status.Account == nil || status.Account.Type != "chatgpt" {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, d.cfg.Patience)
	defer cancel()
	note, err := on.RateLimitsRead(ctx)
	if err == nil {
		d.failures.Limits.Keep(note, d.cfg.Metrics)
	}
	return err
}

// loggedOut reports whether codex wants a login of its own and has none.
func loggedOut(status appserver.AccountStatus) bool {
	return status.RequiresOpenaiAuth && status.Account == nil
}

// A fileMark tells one state of codex's credential file from another, without
// reading it.
type fileMark struct {
	at   time.Time
	size int64
}

func (d *Driver) markOf(home string) fileMark {
	info, err := asuser.Value(d.cfg.Child.User, func() (os.FileInfo, error) { return os.Stat(filepath.Join(home, "auth.json")) })
	if err != nil {
		return fileMark{}
	}
	return fileMark{info.ModTime(), info.Size()}
}

// accountHealth is what is known of the account; nil if nothing is.
func (d *Driver) accountHealth() *executor.Account {
	status, known := d.account.last()
	switch {
	case !known:
		return nil
	case status.Account != nil:
		return &executor.Account{Kind: status.Account.Type, Plan: status.Account.PlanType}
	case status.RequiresOpenaiAuth:
		return &executor.Account{Kind: "none"}
	}
	return &executor.Account{Kind: "provider"}
}
