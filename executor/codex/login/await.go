package login

import (
	"context"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
)

const (
	loginLasts  = 15 * time.Minute // then codex gives a device code up
	loginAgain  = 3 * time.Minute  // that lie between two device codes
	lookAgain   = 2 * time.Second  // how often the credential's file is looked at
	probesApart = 2 * time.Second  // whatever happens
	accountAsk  = 5 * time.Second  // for which codex may look at the network, while jobs wait to be told
	loginAsk    = 10 * time.Second // likewise
	cancelAsk   = 10 * time.Second
)

// A login is a device code that a person may be about to enter.
type login struct {
	appserver.DeviceCode
	on    *child.Child
	died  <-chan struct{} // closed when the child is gone, and the login with it
	since time.Time
}

// over reports whether a device code is of no use any more.
func (l *login) over() bool {
	select {
	case <-l.died:
		return true
	default:
		return time.Since(l.since) >= loginLasts
	}
}

// A keeper holds the jobs until there is a credential that the model takes. It
// belongs to the goroutine of the hold.
type keeper struct {
	of      *Credential
	wake    <-chan struct{}       // something may be new
	tell    func(*executor.Pause) // says what waiting jobs are told from now on
	why     *executor.Refusal
	account appserver.AccountStatus
	known   bool            // what the account is
	login   *login          // under way, or nil
	trouble string          // why there is none
	offered time.Time       // when one was asked for last; zero if never
	probed  time.Time       // when the model was asked last, by a turn or a probe
	file    fileMark        // the credential's, as it was looked at
	changed bool            // it has changed since the model was asked last
	stale   bool            // codex has to be started anew to read it
	kept    bool            // turns are begun, without which codex would be restarted to take it
	prompt  bool            // to ask the model is worth it before the minute is over
	unbegun bool            // a login is begun for the first job of the user's that comes
	peers   *executor.Pause // what jobs of other agents are told
	shown   *executor.Pause
}

// AwaitLogin waits for a credential that the model takes, and offers a login
// meanwhile. It returns what the model refuses for instead, if it comes to that; ok is
// false if we are closing.
func (c *Credential) AwaitLogin(r *executor.Refusal, wake <-chan struct{}, tell func(*executor.Pause)) (other *executor.Refusal, ok bool) {
	k := &keeper{of: c, wake: wake, tell: tell, why: r, probed: time.Now(), peers: heldForPeers()}
	defer c.open.Store(nil)
	c.account.news() // what was before does not count
	k.changed = k.begin()
	for stored := k.stale || k.changed; ; stored = false { // it is tried before a login is begun, which a restart would end
		if !stored {
			k.offer()
			k.show()
			if !k.wait() {
				return nil, false
			}
			if k.loggedIn() {
				break
			}
			if !k.due() {
				continue
			}
		}
		refused := k.ask()
		if refused == nil {
			break
		}
		if refused.Kind != agent.FailAuth {
			k.cancel()
			return refused, true
		}
	}
	k.cancel()
	return nil, true
}

// begin looks for the first time, and reports whether there may be a login in the file that codex has
// not read.
func (k *keeper) begin() bool {
	on, err := k.of.cfg.Child.Get(k.of.root)
	if err != nil {
		return false
	}
	k.file = k.of.markOf(on.Info().CodexHome)
	k.look()
	if k.isOut() {
		return k.file.at.After(on.Began)
	}
	return k.of.hasNewer(on)
}

// isOut reports whether codex has no login, or one that cannot be renewed.
func (k *keeper) isOut() bool { return k.known && loggedOut(k.account) }

// look finds out which account codex has, and whether its file is of another one.
func (k *keeper) look() {
	on, err := k.of.cfg.Child.Get(k.of.root)
	if err != nil {
		return
	}
	k.stale = k.stale || k.of.hasAnothers(on)
	ctx, cancel := context.WithTimeout(k.of.root, accountAsk)
	defer cancel()
	status, err := k.of.readAccount(ctx, on, false)
	k.account, k.known = status, err == nil
}

// wait waits until there may be something new, and reports whether we go on.
func (k *keeper) wait() bool {
	timer := time.NewTimer(lookAgain)
	defer timer.Stop()
	select {
	case <-k.wake:
	case <-timer.C:
	case <-k.of.root.Done():
		return false
	}
	return true
}

// loggedIn reports whether somebody has logged codex in. A login that failed may
// have been carried out all the same: then the credential's file has changed.
func (k *keeper) loggedIn() bool {
	updated, completed := k.of.account.news()
	k.prompt = k.prompt || updated
	if completed == nil {
		return false
	}
	if k.login != nil && completed.LoginID == k.login.LoginID {
		k.login = nil
	}
	k.of.log.Info("a login has ended", "success", completed.Success)
	return completed.Success
}

// due reports whether the model is to be asked now: once a minute, and when the
// credential has changed.
func (k *keeper) due() bool {
	if on, _ := k.of.cfg.Child.Health(); on != nil {
		if mark := k.of.markOf(on.Info().CodexHome); mark != k.file {
			k.file, k.changed, k.prompt = mark, true, true
		}
	}
	k.prompt = k.prompt || k.kept && k.of.host.IsIdle()
	since := time.Since(k.probed)
	return since >= k.of.cfg.ProbeEvery || k.prompt && since >= probesApart
}

// ask finds out whether the model takes the credential now. It returns why not,
// or nil.
func (k *keeper) ask() *executor.Refusal {
	k.prompt, k.probed = false, time.Now()
	r := k.try()
	if r == nil || r.Kind != agent.FailAuth {
		return r
	}
	if k.weighChange(); !k.stale {
		return r
	}
	if kept := !k.of.host.IsIdle(); kept {
		if !k.kept {
			k.of.log.Warn("the credential has changed; codex is restarted to take it as soon as no turn is begun: answer the questions that are open, or cancel their tasks")
		}
		k.kept = kept
		return r
	}
	k.of.log.Info("the credential has changed; codex is restarted to take it")
	if on, _ := k.of.cfg.Child.Health(); on != nil {
		on.Restart("credential changed")
		<-on.Done()
	}
	k.stale, k.kept = false, false
	r = k.try()
	k.weighChange()
	return r
}

// weighChange notes whether codex has to be started anew for what its file has become. It takes a
// login that appears where none was; after a 401 it reads a newer one of the account that it has,
// or renews its own and writes it, until the renewal is refused for good; and it takes no other
// change (seen on 0.169.0).
func (k *keeper) weighChange() {
	on, _ := k.of.cfg.Child.Health()
	if on == nil {
		return
	}
	k.look() // the probe may have ended what codex had
	mark := k.of.markOf(on.Info().CodexHome)
	changed := k.changed || mark != k.file
	k.file, k.changed = mark, false
	k.stale = k.stale || changed && (k.isOut() || on.Whose() == "" || k.of.hasNewer(on))
}

func (k *keeper) try() *executor.Refusal {
	k.look()
	if k.isOut() {
		return k.why // nobody needs to ask the model
	}
	r, err := k.of.cfg.Probe(k.of.root)
	if err != nil {
		k.of.log.Warn("it could not be found out whether the credential is taken now", "err", err)
		return k.why
	}
	if r != nil && r.Kind == agent.FailAuth {
		k.why = r
	}
	return r
}

// offers reports whether a login by device code helps: where codex's own login
// is what counts, and that is not an API key.
func (k *keeper) offers() bool {
	switch {
	case !k.known: // with a ChatGPT login codex looks at the network to tell
		return k.of.keyVariable() == ""
	case k.account.Account == nil:
		return k.account.RequiresOpenaiAuth
	}
	return k.account.RequiresOpenaiAuth && k.account.Account.Type == "chatgpt"
}

// mayOffer reports whether a login is to be begun now: the first at once, as the user who
// has met the refusal reads it, and a further one if a job of the user's waits for it. For
// jobs of other agents alone none is begun.
func (k *keeper) mayOffer(user, peers bool) bool {
	switch {
	case k.login != nil, !k.offers():
		return false
	case k.offered.IsZero():
		return user || !peers
	}
	return user && time.Since(k.offered) >= loginAgain
}

// offer begins a login, if it may.
func (k *keeper) offer() {
	if k.login != nil && k.login.over() {
		k.login = nil
	}
	user, peers := k.of.host.WhoWaits()
	may := k.mayOffer(user, peers)
	left := !may && !user && k.mayOffer(true, peers)
	if left && !k.unbegun && peers {
		k.of.log.Warn("messages of other agents wait for a login; one is begun when a message of the user's comes, whose answer has the link and the code")
	}
	k.unbegun = left
	if !may {
		return
	}
	k.offered = time.Now()
	on, err := k.of.cfg.Child.Get(k.of.root)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(k.of.root, loginAsk)
	defer cancel()
	code, err := on.LoginDeviceCode(ctx)
	if err != nil {
		k.of.log.Warn("no login could be begun", "err", err)
		k.trouble = "no link for one could be had"
		return
	}
	k.login, k.trouble = &login{DeviceCode: code, on: on, died: on.Done(), since: k.offered}, ""
	k.of.log.Info("a login was begun; its link and its code are in the tasks that wait, but for those of other agents")
}

// cancel gives up a login that nobody needs any more.
func (k *keeper) cancel() {
	if k.login == nil || k.login.over() || k.of.root.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(k.of.root, cancelAsk)
	defer cancel()
	if err := k.login.on.LoginCancel(ctx, k.login.LoginID); err != nil {
		k.of.log.Debug("a login could not be given up", "err", err)
	}
}
