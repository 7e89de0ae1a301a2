package browser

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakelogin"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestNeedsLogin shows where to log in and with which code, and the account after that.
func TestNeedsLogin(t *testing.T) {
	t.Parallel()
	issuer := fakelogin.Start(t)
	model := modeltest.Start(t, func(turn *fakemodel.Turn) {
		if turn.Headers.Get("Authorization") == "" {
			turn.Fail(http.StatusUnauthorized, `{"error":{"message":"no key"}}`)
			return
		}
		fakemodel.Keywords(turn)
	})
	settings := append(issuer.Env(), "CODEX_HOME="+home(t, issuer.Config(model.BaseURL())), "RUNTIME_LOG=debug")
	r := &program{Program: progtest.Start(t, binary, settings...), Model: model, t: t}
	p := r.console(t)
	p.begin("who", "say logged in at last")
	p.sees("#task-state", "Needs a login")
	p.sees("#banners", fakelogin.UserCode)
	p.sees(".question.open", fakelogin.UserCode)
	if to := p.eval("document.querySelector('#banners a').href"); to != issuer.URL+"/codex/device" {
		t.Errorf("the link leads to %q", to)
	}
	p.sees("#card-ready", "Not ready")
	p.picture("needs-login")
	p.contrast("a login that is missing")
	issuer.Approve()
	p.sees(".message", "logged in at last")
	p.until("no word of a login", "!document.querySelector('#banner-login')")
	p.sees("#card-ready", "Ready")
	p.sees("#card-account", fakelogin.Email)
}

// TestLimit says until when no turn is started, and who waits for that.
func TestLimit(t *testing.T) {
	t.Parallel()
	r := start(t)
	var over atomic.Bool
	r.Model.SetScript(func(turn *fakemodel.Turn) {
		if !over.Load() {
			turn.UsageLimit(20 * time.Second) // to be seen also where all of this takes long
			return
		}
		turn.Say("there is some again")
	})
	p := r.console(t)
	p.begin("limit", "the first")
	p.sees("#task-state", "Failed")
	p.sees("#outcome", "limit")
	p.sees("#banners", "No turn is started")
	over.Store(true)
	p.begin("limit-2", "the second")
	p.sees("#task-state", "Waiting")
	p.sees("#outcome", "Waits for the end of a limit")
	p.sees(".message", "there is some again")
	p.until("no word of a limit", "!document.querySelector('#banner-hold')")
}
