package codex_test

import (
	"slices"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakelogin"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
)

func conversationOf(o executor.Overview, context string) executor.Conversation {
	i := slices.IndexFunc(o.Conversations, func(c executor.Conversation) bool { return c.Context == context })
	if i < 0 {
		return executor.Conversation{}
	}
	return o.Conversations[i]
}

func TestOverview(t *testing.T) {
	model := modeltest.Start(t, fakemodel.Keywords)
	e := onCodex(t, model, func(c *config) { c.MaxTurns = 1 })
	if o := e.Overview(); len(o.Conversations) != 0 || o.Login != nil || o.MaxTurns != 1 {
		t.Errorf("at first: %+v", o)
	}
	submit(t, e, "j0", "idle", "say hello").wait(t)
	hanging := submit(t, e, "j1", "one", "hang")
	eventually(t, "a turn", func() bool { return len(seen[agent.Started](hanging)) == 1 })
	second, other := submit(t, e, "j2", "one", "say two"), submit(t, e, "j3", "other", "say three")
	o := e.Overview()
	if c := conversationOf(o, "one"); c.Running != "j1" || !slices.Equal(c.Waiting, []string{"j2"}) || c.Thread == "" || !c.Loaded {
		t.Errorf("a conversation with a turn and a message behind it: %+v", c)
	}
	if c := conversationOf(o, "other"); c.Running != "" || !slices.Equal(c.Waiting, []string{"j3"}) {
		t.Errorf("a conversation that waits for a slot: %+v", c)
	}
	idle := conversationOf(o, "idle")
	if idle.Usage == nil || idle.Usage.TotalTokens == 0 || idle.Running != "" || idle.Waiting != nil || !idle.Loaded || idle.LastUsed.IsZero() {
		t.Errorf("an idle conversation: %+v", idle)
	}
	for i, want := range []string{"one", "other", "idle"} {
		if got := o.Conversations[i].Context; got != want {
			t.Errorf("conversation %d is %q, want %q", i, got, want)
		}
	}
	if o.Model == "" {
		t.Error("the model is not known")
	}
	if err := e.Cancel(t.Context(), "j1"); err != nil {
		t.Fatal(err)
	}
	second.wait(t)
	other.wait(t)
	submit(t, e, "j4", "idle", "say again").wait(t)
	if again := conversationOf(e.Overview(), "idle"); again.Usage.TotalTokens <= idle.Usage.TotalTokens {
		t.Errorf("after a second turn the thread has %d tokens, after the first it had %d", again.Usage.TotalTokens, idle.Usage.TotalTokens)
	}
}

func TestOverviewOfALogin(t *testing.T) {
	t.Parallel() // it mostly waits
	h := onLogin(t, "", "", nil)
	w := submit(t, h.rig, "j1", "one", "say one")
	heldWith(t, w)
	eventually(t, "the login to be shown", func() bool { return h.Overview().Login != nil })
	login := h.Overview().Login
	if login.Code != fakelogin.UserCode || login.URL != h.issuer.URL+"/codex/device" || login.Expires.IsZero() {
		t.Errorf("the login is %+v", login)
	}
	h.issuer.Approve()
	w.wait(t)
	if o := h.Overview(); o.Login != nil {
		t.Errorf("after it the login is %+v", o.Login)
	}
}

func TestLookAtAccount(t *testing.T) {
	t.Parallel() // it mostly waits
	h := onLogin(t, "chatgpt", "", nil)
	if err := h.LookAtAccount(t.Context()); err != nil || h.Health().Account != nil {
		t.Errorf("without a codex: %v, %+v", err, h.Health().Account)
	}
	submit(t, h.rig, "j1", "one", "say one").wait(t)
	if err := h.LookAtAccount(t.Context()); err != nil {
		t.Error(err)
	}
	if account := h.Health().Account; account == nil || account.Kind != "chatgpt" || account.Plan == "" || h.Overview().Email != fakelogin.Email {
		t.Errorf("the account is %+v of %q", account, h.Overview().Email)
	}
	limits := h.Health().Limits
	if len(limits) != 1 || limits[0].Name != "5h" || limits[0].UsedPercent != 25 || !limits[0].ResetsAt.After(time.Now()) {
		t.Errorf("its limits are %+v", limits)
	}
}
