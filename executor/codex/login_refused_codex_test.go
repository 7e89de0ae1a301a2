package codex_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakelogin"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// TestExpiredLogin has a ChatGPT login whose refresh token was used by another.
func TestExpiredLogin(t *testing.T) {
	t.Parallel() // it mostly waits
	h := onLogin(t, "chatgpt", "eyJ", nil)
	h.issuer.Burn()
	w := submit(t, h.rig, "j1", "one", "say one")
	held := heldWith(t, w)
	if held.Data["userCode"] != fakelogin.UserCode {
		t.Errorf("held = %+v, want the link and the code", held)
	}
	if strings.Contains(held.Text, "eyJ") || strings.Contains(held.Text, "refresh-") {
		t.Errorf("held has a token in it: %s", held.Text)
	}
}

// TestExpiredLoginThatWasRenewed: the file is newer than codex is, and what is in it may be another's. That is found out
// before a code is given: it is a login of the codex that was asked for it, and ends with it.
func TestExpiredLoginThatWasRenewed(t *testing.T) {
	longtest.Mark(t)
	t.Parallel() // it mostly waits
	h := onLogin(t, "chatgpt", "", func(c *config) { c.RefreshEvery = 300 * time.Millisecond })
	h.started(t)
	eventually(t, "a renewal", func() bool { return h.issuer.Renewals() > 0 })
	pid := h.Health().Child.Pid
	h.model.SetScript(unauthorized)
	h.issuer.Burn()
	eventually(t, "the hold", func() bool { hold := h.Health().Hold; return hold != nil && hold.Kind == agent.FailAuth })
	w := submit(t, h.rig, "j1", "one", "say one")
	if held := heldWith(t, w); held.Data["userCode"] != fakelogin.UserCode {
		t.Fatalf("held = %+v, want the link and the code", held)
	}
	if h.Health().Child.Pid == pid {
		t.Error("a code was given by a codex that has yet to be started anew")
	}
	h.model.SetScript(fakemodel.Keywords)
	h.issuer.Approve()
	wantEnd(t, w.wait(t), agent.Completed, "")
	if n := h.issuer.Codes(); n != 1 {
		t.Errorf("%d codes, want one", n)
	}
}

// TestRefusedLoginIsReplaced by a newer one of the same account: where it cannot be renewed any more, and
// where the model refuses it in another way than codex renews it for.
func TestRefusedLoginIsReplaced(t *testing.T) {
	forbidden := func(turn *fakemodel.Turn) {
		turn.Fail(http.StatusForbidden, `{"error":{"message":"not of this plan"}}`)
	}
	for name, c := range map[string]struct {
		burnt  bool
		refuse func(*fakemodel.Turn)
	}{"expired": {true, unauthorized}, "forbidden": {false, forbidden}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it mostly waits
			h := onLogin(t, "chatgpt", "", nil)
			if c.burnt {
				h.issuer.Burn()
			}
			h.model.SetScript(c.refuse)
			w := submit(t, h.rig, "j1", "one", "say one")
			heldWith(t, w)
			newer := string(h.issuer.Auth())
			h.model.SetScript(func(turn *fakemodel.Turn) {
				if token := strings.TrimPrefix(turn.Headers.Get("Authorization"), "Bearer "); !strings.Contains(newer, token) {
					c.refuse(turn)
					return
				}
				fakemodel.Keywords(turn)
			})
			h.write(t, newer)
			wantEnd(t, w.wait(t), agent.Completed, "")
		})
	}
}

// TestLoginThatComesAsItIsRefused: codex has read its file, and is refused for good behind that, or in a way that
// it renews no login for.
func TestLoginThatComesAsItIsRefused(t *testing.T) {
	for name, refuse := range map[string]func(h *household, stored func()){
		"for good": func(h *household, stored func()) { h.issuer.BurnBehind(stored) },
		"forbidden": func(h *household, stored func()) {
			var once sync.Once
			h.model.SetScript(func(turn *fakemodel.Turn) {
				once.Do(stored)
				forbidden(turn)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it mostly waits
			h := onLogin(t, "chatgpt", "", func(c *config) { c.LoginProbe = time.Second })
			h.model.SetScript(unauthorized)
			w := submit(t, h.rig, "j1", "one", "say one")
			heldWith(t, w)
			refuse(h, func() {
				newer := string(h.issuer.Auth())
				h.write(t, newer)
				h.model.SetScript(func(turn *fakemodel.Turn) {
					if !strings.Contains(newer, strings.TrimPrefix(turn.Headers.Get("Authorization"), "Bearer ")) {
						forbidden(turn)
						return
					}
					fakemodel.Keywords(turn)
				})
			})
			wantEnd(t, w.wait(t), agent.Completed, "")
		})
	}
}

// TestRefusedLoginThatIsRenewed: codex renews its login each time that the model is asked. What it writes then does
// not have it restarted, and the code that was given stays good, also where what it has renewed is refused
// in another way.
func TestRefusedLoginThatIsRenewed(t *testing.T) {
	var known sync.Map // tokens that were refused
	for name, refuse := range map[string]func(*fakemodel.Turn){
		"unauthorized": unauthorized,
		"forbidden when new": func(turn *fakemodel.Turn) {
			if _, again := known.LoadOrStore(turn.Headers.Get("Authorization"), true); again {
				unauthorized(turn)
				return
			}
			forbidden(turn)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it mostly waits
			h := onLogin(t, "chatgpt", "", func(c *config) { c.LoginProbe = time.Second })
			h.model.SetScript(refuse)
			w := submit(t, h.rig, "j1", "one", "say one")
			heldWith(t, w)
			eventually(t, "a code", func() bool { return h.issuer.Codes() > 0 })
			pid, renewals := h.Health().Child.Pid, h.issuer.Renewals()
			eventually(t, "three renewals", func() bool { return h.issuer.Renewals() >= renewals+3 })
			if now := h.Health().Child.Pid; now != pid || h.issuer.Codes() != 1 {
				t.Errorf("codex is %d, and was %d; codes given: %d", now, pid, h.issuer.Codes())
			}
			h.model.SetScript(fakemodel.Keywords)
			wantEnd(t, w.wait(t), agent.Completed, "")
		})
	}
}

// forbidden refuses a login in a way that codex does not renew it for.
func forbidden(turn *fakemodel.Turn) {
	turn.Fail(http.StatusForbidden, `{"error":{"message":"not of this plan"}}`)
}
