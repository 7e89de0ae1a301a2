package serve

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/late"
)

// TestRepliesThatArrive: a late reply is not lost for its files.
func TestRepliesThatArrive(t *testing.T) {
	type notice struct {
		Message     string                `json:"message"`
		Attachments []platform.Attachment `json:"attachments"`
	}
	var got []notice
	refuse := false
	double := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n notice
		if err := json.NewDecoder(r.Body).Decode(&n); err != nil {
			t.Error(err)
		}
		if refuse && n.Attachments != nil {
			http.Error(w, `{"error":"attachment[0]: uri and name are required"}`, http.StatusBadRequest)
			return
		}
		got = append(got, n)
	}))
	defer double.Close()
	client := platform.New(platform.Config{URL: double.URL, Workspace: "w", Token: platform.Token{Value: "t"}})
	defer client.Close()
	reply := late.Reply{Text: "done", Files: []late.File{{URI: "workspace:/w/1-a.txt"}, {URI: "workspace:/w/2", Name: "b.txt"}}}
	for _, refuse = range []bool{false, true} {
		if err := (chat{platform.NewSpeaker(client), func(string, tasks.Delivery) {}}).Say(t.Context(), reply); err != nil {
			t.Error(err)
		}
	}
	want := []notice{
		{"done", []platform.Attachment{{URI: "workspace:/w/1-a.txt", Name: "1-a.txt"}, {URI: "workspace:/w/2", Name: "b.txt"}}},
		{"done", nil},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
