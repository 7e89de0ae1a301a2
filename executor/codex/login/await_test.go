package login

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

func TestLoginsAreOfferedSparingly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		died := make(chan struct{})
		k := &keeper{known: true, account: appserver.AccountStatus{RequiresOpenaiAuth: true}}
		if !k.mayOffer(false, false) {
			t.Error("the first login is not offered")
		}
		k.offered, k.login = time.Now(), &login{died: died, since: time.Now()}
		time.Sleep(15*time.Minute - time.Second)
		if k.login.over() || k.mayOffer(true, false) {
			t.Error("a login is given up before its time")
		}
		time.Sleep(time.Second)
		if !k.login.over() {
			t.Error("a login lasts longer than its code")
		}
		k.login = nil
		if k.mayOffer(false, false) || !k.mayOffer(true, false) {
			t.Error("the next login does not depend on somebody who waits")
		}
		k.offered, k.login = time.Now(), &login{died: died, since: time.Now()}
		close(died)
		if !k.login.over() {
			t.Error("a login outlives its child")
		}
		k.login = nil
		if k.mayOffer(true, false) {
			t.Error("two logins follow one another at once")
		}
		time.Sleep(loginAgain)
		if !k.mayOffer(true, false) {
			t.Error("no login is offered any more")
		}
		if k.mayOffer(false, true) || (&keeper{known: true, account: k.account}).mayOffer(false, true) {
			t.Error("a login is begun for other agents alone")
		}
		k.account.Account = &appserver.Account{Type: "apiKey"}
		if k.mayOffer(true, false) {
			t.Error("a login is offered in the place of a key")
		}
	})
}
