package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// TestYesIsTheSendersOwn: what the platform sends for a schedule or for people of a chat is not the
// user's, though it has the marks of a canvas or none, and a yes of one is no leave for what another
// is asked.
func TestYesIsTheSendersOwn(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	m := newMember(t, fakeplatform.APR)
	m.program = startOn(t, binary, modeltest.Start(t, fakemodel.Keywords), m.settings()...)
	m.online()
	dir := codextest.Dir(t, "outside")
	asks := func(name string) string {
		return wants(object{"cmd": "echo ran " + name + " | tee " + filepath.Join(dir, name)})
	}
	ran := func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	}
	says := func(params object, want string) {
		t.Helper()
		if said, _ := userSends(t, m.handle, params); !strings.Contains(said, want) {
			t.Errorf("%v is answered %q, want %q", params, said, want)
		}
	}
	user := func(id, text string) object {
		params := typed(id, text)
		params["metadata"] = object{"history": []object{{"role": "user", "parts": []object{textPart("earlier")}}}}
		return params
	}
	chat := func(chat, id, text string) object {
		params := typed("channel-slack-"+id, text)
		params["metadata"] = object{"source": "slack", "channel_id": "c1", "chat_id": chat, "user_id": "U6", "username": "mallory", "message_id": id, "history": []object{}}
		return params
	}

	says(typed("cron-0a1b2c3d-4e5f6a7b", asks("scheduled")), "codex asks")
	says(user("u1", "yes"), "was not taken")
	if ran("scheduled") {
		t.Error("the user's yes to something else was leave for what a schedule asks")
	}
	says(user("u2", "yes"), "ran scheduled")
	if !ran("scheduled") {
		t.Error("the user's answer to what was shown was not taken")
	}

	says(user("u3", asks("users")), "codex asks")
	for i, from := range []string{"C0", "C1"} {
		if said, _ := userSends(t, m.handle, chat(from, fmt.Sprint(10+i), "say yes")); said != "yes" {
			t.Errorf("a chat is answered %q", said)
		}
	}
	says(chat("C0", "20", asks("chats")), "codex asks")
	if said, _ := userSends(t, m.handle, chat("C1", "20", "yes")); ran("users") || ran("chats") {
		t.Errorf("a yes of another chat was leave; it is answered %q", said)
	}
	says(chat("C0", "21", "yes"), "ran chats")
	if ran("users") || !ran("chats") {
		t.Error("the chat's yes is not for what it was asked")
	}
	says(user("u4", "yes"), "ran users")
	if !ran("users") {
		t.Error("the user's yes was not taken")
	}
}
