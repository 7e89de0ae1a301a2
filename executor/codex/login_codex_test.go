package codex_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakelogin"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// The tests in this file run on the real codex with its built-in provider, whose
// logins come from an issuer of ours.

// A household is a codex with a home, an issuer and a model that takes the keys
// that it is told to.
type household struct {
	*rig
	issuer *fakelogin.Issuer
	model  *modeltest.Model
	home   string
}

func (h *household) write(t *testing.T, auth string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(h.home, "auth.json"), []byte(auth), 0o600); err != nil {
		t.Fatal(err)
	}
}

// started waits until codex has read its login.
func (h *household) started(t *testing.T) {
	t.Helper()
	h.Warm()
	eventually(t, "codex to be ready", func() bool { return h.Health().Child.State == "ready" })
}

// onLogin returns a household whose model refuses whoever comes without a token,
// or with one that begins as refused says.
func onLogin(t *testing.T, auth, refused string, change func(*config)) *household {
	t.Helper()
	h := &household{issuer: fakelogin.Start(t), home: codextest.Home(t)}
	h.model = modeltest.Start(t, func(turn *fakemodel.Turn) {
		token := strings.TrimPrefix(turn.Headers.Get("Authorization"), "Bearer ")
		if token == "" || refused != "" && strings.HasPrefix(token, refused) {
			unauthorized(turn)
			return
		}
		fakemodel.Keywords(turn)
	})
	// An endpoint refuses a login when a WebSocket is opened, and codex renews it then; the model refuses by
	// its answers, at which codex does that over HTTP only.
	h.model.OverHTTP()
	if auth == "chatgpt" {
		auth = string(h.issuer.Auth())
	}
	if auth != "" {
		h.write(t, auth)
	}
	config := h.issuer.Config(h.model.BaseURL())
	if err := os.WriteFile(filepath.Join(h.home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := codexConfig(t, h.model)
	cfg.Child.Args = nil
	cfg.Child.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + codextest.Dir(t, "user"), "CODEX_HOME=" + h.home,
	}, h.issuer.Env()...)
	cfg.LoginProbe = time.Hour
	if change != nil {
		change(&cfg)
	}
	h.rig = running(t, cfg)
	return h
}

func TestLoginByDeviceCode(t *testing.T) {
	t.Parallel() // it mostly waits
	h := onLogin(t, "", "", nil)
	w := submit(t, h.rig, "j1", "one", "say one")
	held := heldWith(t, w)
	if held.Data["userCode"] != fakelogin.UserCode || held.Data["verificationUrl"] != h.issuer.URL+"/codex/device" || held.Data["loginId"] == "" ||
		!strings.Contains(held.Text, fakelogin.UserCode) || !strings.Contains(held.Text, h.issuer.URL) {
		t.Errorf("held = %+v, want the link and the code", held)
	}
	submit(t, h.rig, "j2", "two", "say two")
	if n := h.issuer.Codes(); n != 1 {
		t.Errorf("%d codes, want one", n)
	}
	wantAsked(t, h.model, "say one", 1, 1)
	wantAsked(t, h.model, "say two", 0, 0)
	h.issuer.Approve()
	if end := w.wait(t); end.Outcome != agent.Completed {
		t.Errorf("end = %+v (%v)", end, end.Failure)
	}
	wantAsked(t, h.model, "say one", 2, 1)
}

// TestLoginOfAPeersMessage is begun for none of them: the first message of the user's has it,
// and none of the others is shown it, before or after.
func TestLoginOfAPeersMessage(t *testing.T) {
	longtest.Mark(t)
	t.Parallel() // it mostly waits
	h := onLogin(t, "", "", nil)
	peer := func(id, context string) *witness {
		return submitJob(t, h.rig, executor.Job{ID: id, Context: context, Input: []agent.Input{agent.Text("say pong")}, Peer: true})
	}
	first := peer("j1", "peer:bob")
	heldWith(t, first)
	if n := h.issuer.Codes(); n != 0 || h.Overview().Login != nil {
		t.Errorf("%d logins were begun, %+v", n, h.Overview().Login)
	}
	user := submit(t, h.rig, "j2", "one", "say one")
	if held := heldWith(t, user); held.Data["userCode"] != fakelogin.UserCode {
		t.Errorf("the user is told %+v, want the link and the code at once", held)
	}
	second := peer("j3", "peer:eve")
	heldWith(t, second)
	h.issuer.Approve()
	for name, w := range map[string]*witness{"before": first, "behind": second} {
		if end := w.wait(t); end.Outcome != agent.Completed {
			t.Errorf("%s: %+v (%v)", name, end, end.Failure)
		}
		for _, held := range seen[agent.Paused](w) {
			if all := fmt.Sprint(held.Text, held.Data); strings.Contains(all, fakelogin.UserCode) || strings.Contains(all, h.issuer.URL) || held.Data["loginId"] != nil {
				t.Errorf("%s: another agent is told %s", name, all)
			}
		}
		if n := len(seen[agent.Paused](w)); n != 1 {
			t.Errorf("%s: it was told %d times", name, n)
		}
	}
	if end := user.wait(t); end.Outcome != agent.Completed {
		t.Errorf("the user's ended %+v (%v)", end, end.Failure)
	}
}

// TestCredentialThatAppears has somebody else log codex in.
func TestCredentialThatAppears(t *testing.T) {
	longtest.Mark(t)
	t.Parallel() // it mostly waits
	h := onLogin(t, "", "", nil)
	w := submit(t, h.rig, "j1", "one", "say one")
	heldWith(t, w)
	h.write(t, `{"OPENAI_API_KEY":"sk-good"}`)
	if end := w.wait(t); end.Outcome != agent.Completed {
		t.Errorf("end = %+v (%v)", end, end.Failure)
	}
}

// TestCredentialThatIsReplaced has codex restarted: it would go on with the one
// that it has.
func TestCredentialThatIsReplaced(t *testing.T) {
	longtest.Mark(t)
	t.Parallel() // it mostly waits
	h := onLogin(t, `{"OPENAI_API_KEY":"sk-bad"}`, "sk-bad", nil)
	w := submit(t, h.rig, "j1", "one", "say one")
	held := heldWith(t, w)
	if held.Data["userCode"] != nil || h.issuer.Codes() != 0 {
		t.Errorf("a login was offered in the place of a key: %+v", held)
	}
	pid := h.Health().Child.Pid
	h.write(t, `{"OPENAI_API_KEY":"sk-good-one"}`)
	if end := w.wait(t); end.Outcome != agent.Completed {
		t.Errorf("end = %+v (%v)", end, end.Failure)
	}
	if h.Health().Child.Pid == pid {
		t.Error("codex was not restarted: this test has nothing to show")
	}
}

// TestCredentialIsReplacedBesideAQuestion: a turn that waits for its answer keeps codex from being restarted,
// and the message that waits for that says so.
func TestCredentialIsReplacedBesideAQuestion(t *testing.T) {
	longtest.Mark(t)
	t.Parallel() // it mostly waits
	h := onLogin(t, `{"OPENAI_API_KEY":"sk-old"}`, "sk-bad", func(c *config) {
		c.Thread.ApprovalPolicy, c.Thread.Sandbox = agent.OnRequest, agent.WorkspaceWrite
	})
	asks := submit(t, h.rig, "q1", "other", "escalate echo hi")
	eventually(t, "a question", func() bool { return len(seen[agent.Question](asks)) > 0 })
	h.model.SetScript(func(turn *fakemodel.Turn) {
		if strings.HasSuffix(turn.Headers.Get("Authorization"), "sk-old") {
			unauthorized(turn)
			return
		}
		fakemodel.Keywords(turn)
	})
	w := submit(t, h.rig, "j1", "one", "say one")
	heldWith(t, w)
	h.write(t, `{"OPENAI_API_KEY":"sk-good-one"}`)
	eventually(t, "what it waits for", func() bool {
		return slices.ContainsFunc(seen[agent.Paused](w), func(h agent.Paused) bool { return strings.Contains(h.Text, "the questions that are open") })
	})
	if err := h.Cancel(t.Context(), "q1"); err != nil {
		t.Fatal(err)
	}
	if end := w.wait(t); end.Outcome != agent.Completed {
		t.Errorf("end = %+v (%v)", end, end.Failure)
	}
}

// TestLimitOfAnotherAccount has a limit of days, and then another account: by a file that was changed, before
// or afterwards, and with codex started anew.
func TestLimitOfAnotherAccount(t *testing.T) {
	t.Parallel() // it mostly waits
	for name, c := range map[string]struct{ before, restart bool }{"its file": {}, "its file before the limit": {before: true}, "a restart": {restart: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := onLogin(t, `{"OPENAI_API_KEY":"sk-poor"}`, "", nil)
			if c.before {
				h.started(t)
				h.write(t, `{"OPENAI_API_KEY":"sk-rich-one"}`)
			}
			h.model.SetScript(func(turn *fakemodel.Turn) {
				if strings.HasSuffix(turn.Headers.Get("Authorization"), "sk-poor") {
					turn.UsageLimit(20 * time.Hour)
					return
				}
				fakemodel.Keywords(turn)
			})
			alone := &witness{ended: make(chan agent.Ended, 1)} // refused for the model that it names, as far as is known
			job := executor.Job{ID: "j4", Context: "four", Input: []agent.Input{agent.Text("say four")}, Patient: true, Accepted: true, Options: agent.Options{Model: "gpt-5.5"}}
			if _, err := h.Submit(job, alone.observe); err != nil {
				t.Fatal(err)
			}
			if c.before {
				wantEnd(t, alone.wait(t), agent.Completed, "")
				return
			}
			heldWith(t, alone)
			wantEnd(t, submit(t, h.rig, "j1", "one", "say one").wait(t), agent.Failed, agent.FailLimit)
			waits := submitPatient(t, h.rig, "j2", "two", "say two")
			heldWith(t, waits)
			h.write(t, `{"OPENAI_API_KEY":"sk-rich-one"}`)
			if c.restart {
				h.RestartWhenIdle("its login was replaced")
			}
			wantEnd(t, waits.wait(t), agent.Completed, "")
			wantEnd(t, alone.wait(t), agent.Completed, "")
			wantEnd(t, submit(t, h.rig, "j3", "one", "say three").wait(t), agent.Completed, "")
		})
	}
}

// TestKeyIsRotated: the new one is written down, and then the old one is revoked.
func TestKeyIsRotated(t *testing.T) {
	t.Parallel() // it mostly waits
	h := onLogin(t, `{"OPENAI_API_KEY":"sk-old"}`, "sk-old", nil)
	h.started(t)
	h.write(t, `{"OPENAI_API_KEY":"sk-new"}`)
	wantEnd(t, submitPatient(t, h.rig, "j1", "one", "say one").wait(t), agent.Completed, "")
}

// TestLoginThatCannotBeBegun has nobody who issues one.
func TestLoginThatCannotBeBegun(t *testing.T) {
	t.Parallel()
	h := onLogin(t, "", "", func(c *config) {
		c.Child.Env = append(c.Child.Env, "CODEX_APP_SERVER_LOGIN_ISSUER=http://127.0.0.1:1")
	})
	held := heldWith(t, submit(t, h.rig, "j1", "one", "say one"))
	if held.Data["userCode"] != nil || !strings.Contains(held.Text, "codex login") {
		t.Errorf("held = %+v, want another way", held)
	}
}

func TestLoginIsRenewed(t *testing.T) {
	t.Parallel() // it mostly waits
	h := onLogin(t, "chatgpt", "", func(c *config) { c.RefreshEvery = 300 * time.Millisecond })
	h.Warm()
	eventually(t, "some renewals", func() bool { return h.issuer.Renewals() > 2 })
	for i := range 5 {
		if end := submit(t, h.rig, string(rune('a'+i)), "one", "say one").wait(t); end.Outcome != agent.Completed {
			t.Errorf("a turn beside a renewal ended %+v (%v)", end, end.Failure)
		}
	}
	account := h.Health().Account
	if account == nil || account.Kind != "chatgpt" || account.Plan != "pro" {
		t.Errorf("account = %+v", account)
	}
	h.issuer.Burn()
	eventually(t, "the hold", func() bool { hold := h.Health().Hold; return hold != nil && hold.Kind == agent.FailAuth })
}
