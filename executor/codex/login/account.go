package login

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
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

// Note takes what codex says of its account.
func (c *Credential) Note(note appserver.Notification) {
	if err := c.account.take(note); err != nil {
		c.log.Warn("a notification of codex could not be read", "method", note.Method, "err", err)
		return
	}
	if note.Method == appserver.NoteAccountLoginComplete {
		c.loginEnded(note.Params)
	}
	c.host.News()
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
func (c *Credential) readAccount(ctx context.Context, on *child.Child, refresh bool) (appserver.AccountStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Patience)
	defer cancel()
	status, err := on.AccountRead(ctx, refresh)
	if err == nil {
		c.account.mu.Lock()
		c.account.known, c.account.status = true, status
		c.account.mu.Unlock()
	}
	return status, err
}

// LookAt asks codex which account it has and, of one of ChatGPT, how much of its
// allowance is used, for those who look at [Credential.Account] and at the limits.
// Codex may ask the network for that. It does not start codex: without one it does
// nothing.
func (c *Credential) LookAt(ctx context.Context) error {
	on, _ := c.cfg.Child.Health()
	if on == nil {
		return nil
	}
	status, err := c.readAccount(ctx, on, false)
	if err != nil || status.Account == nil || status.Account.Type != "chatgpt" {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Patience)
	defer cancel()
	note, err := on.RateLimitsRead(ctx)
	if err == nil {
		c.cfg.Limits.Keep(note, c.cfg.Metrics)
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

func (c *Credential) markOf(home string) fileMark {
	info, err := asuser.Value(c.cfg.User, func() (os.FileInfo, error) { return os.Stat(filepath.Join(home, "auth.json")) })
	if err != nil {
		return fileMark{}
	}
	return fileMark{info.ModTime(), info.Size()}
}
