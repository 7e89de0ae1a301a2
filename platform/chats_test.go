package platform_test

import (
	"errors"
	"io"
	"net/http"
	"reflect"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// TestChats: those of an older platform, without the secrets of their configuration; others have none.
func TestChats(t *testing.T) {
	var said string
	c := answering(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.Method + " " + r.URL.Path {
		case "GET /workspaces/us/channels":
			_, _ = io.WriteString(w, `[{"id":"1","channel_type":"slack","enabled":true,"config":{"chat_id":"C1, C2","bot_token":"xoxb...1234"}},
				{"id":"2","channel_type":"telegram","enabled":true,"config":{"chat_id":"-7"}},{"id":"3","channel_type":"slack","enabled":false,"config":{"chat_id":"C3"}},
				{"id":"4","channel_type":"lark","enabled":true,"config":null}]`)
		case "POST /workspaces/us/channels/2/send":
			body, _ := io.ReadAll(r.Body)
			said = string(body)
		default:
			http.NotFound(w, r)
		}
	})
	all, err := c.Chats(t.Context())
	if err != nil || len(all) != 4 || !reflect.DeepEqual(all[0], platform.Chat{ID: "1", Service: "slack", Chats: []string{"C1", "C2"}, Enabled: true}) {
		t.Fatalf("%v: %+v", err, all)
	}
	for target, want := range map[[2]string]string{{"telegram", "-7"}: "2", {"slack", "C1"}: "", {"slack", "C3"}: "", {"telegram", "7"}: "", {"lark", ""}: ""} {
		if got, ok := platform.OnlyChat(all, target[0], target[1]); got.ID != want || ok != (want != "") {
			t.Errorf("%v is %+v", target, got)
		}
	}
	if err := c.SayInChat(t.Context(), "2", "done"); err != nil || said != `{"text":"done"}` {
		t.Errorf("said %q, %v", said, err)
	}
	none := answering(t, http.NotFound)
	if _, err := none.Chats(t.Context()); !errors.Is(err, platform.ErrUnsupported) {
		t.Errorf("a platform without chats: %v", err)
	}
}
