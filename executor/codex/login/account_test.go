package login

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakecodex"
)

func TestAccountNews(t *testing.T) {
	t.Parallel()
	a := &account{}
	say := func(method, params string) {
		t.Helper()
		if err := a.take(appserver.Notification{Method: method, Params: []byte(params)}); err != nil {
			t.Fatal(err)
		}
	}
	say(appserver.NoteAccountUpdated, `{"authMode":"chatgpt","planType":"pro"}`)
	if updated, completed := a.news(); !updated || completed != nil {
		t.Errorf("news = %v, %v", updated, completed)
	}
	say(appserver.NoteAccountUpdated, `{"authMode":"chatgpt","planType":"pro"}`) // codex says so when it is asked, too
	if updated, _ := a.news(); updated {
		t.Error("the same account is news")
	}
	say(appserver.NoteAccountUpdated, `{"authMode":null,"planType":null}`)
	say(appserver.NoteAccountLoginComplete, `{"loginId":"l1","success":false,"error":"Login was not completed"}`)
	updated, completed := a.news()
	if !updated || completed == nil || completed.LoginID != "l1" || completed.Success {
		t.Errorf("news = %v, %+v", updated, completed)
	}
	if _, completed := a.news(); completed != nil {
		t.Error("a login ends twice")
	}
	if err := a.take(appserver.Notification{Method: appserver.NoteAccountUpdated, Params: []byte("{")}); err == nil {
		t.Error("no error for what cannot be read")
	}
}

// TestWatch: what is watched is another codex, or another account of one, and each is news once.
func TestWatch(t *testing.T) {
	t.Parallel()
	bin, env := fakecodex.Command("")
	log := slog.New(slog.DiscardHandler)
	codex := child.NewSupervisor(child.Config{
		Codex:   appserver.Config{Bin: bin, Env: env},
		Prepare: func(context.Context) (child.Launch, string, error) { return child.Launch{Env: env}, "", nil },
		First:   func(context.Context) {}, Ended: func(*child.Child) {},
		Patience: time.Minute, Metrics: uncounted{}, Logger: log,
	})
	d := New(Config{Child: codex, Logger: log})
	first, err := codex.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	exchanged := d.Watch()
	if exchanged() {
		t.Error("what was there before is news")
	}
	if err := d.account.take(appserver.Notification{Method: appserver.NoteAccountUpdated, Params: []byte(`{"authMode":"chatgpt"}`)}); err != nil {
		t.Fatal(err)
	}
	if !exchanged() || exchanged() {
		t.Error("another account is not news, or more than once")
	}
	first.Restart("for this test")
	<-first.Done()
	if exchanged() {
		t.Error("no codex is another one")
	}
	if _, err := codex.Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !exchanged() || exchanged() {
		t.Error("another codex is not news, or more than once")
	}
	codex.Close()
}

// uncounted counts nothing.
type uncounted struct{}

func (uncounted) ChildStarted()         {}
func (uncounted) ChildRestarted(string) {}
