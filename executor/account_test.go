package executor

import (
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
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
