package platform_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// answering is the client of a platform that answers as it is told.
func answering(t *testing.T, serve http.HandlerFunc) *platform.Client {
	t.Helper()
	server := httptest.NewServer(serve)
	t.Cleanup(server.Close)
	c := platform.New(platform.Config{URL: server.URL, Workspace: "us", Token: platform.Token{Value: "hunter2"}})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestApprovalOnAnOlderPlatform: it has another path for approvals, and none for the rest.
func TestApprovalOnAnOlderPlatform(t *testing.T) {
	var asked []string
	c := answering(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path != "/workspaces/us/approvals" {
			http.NotFound(w, r)
			return
		}
		asked = append(asked, string(body))
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"approval_id":"a1","status":"pending"}`)
	})
	for range 2 { // what the platform lacks is remembered, what it has is not forgotten
		got, err := c.CreateRequest(t.Context(), platform.Ask{Kind: "approval", Title: "drop the table", Detail: "it is old", Priority: "high"})
		if want := (platform.Asked{ID: "a1", Status: "pending", Silent: true}); err != nil || got != want {
			t.Errorf("%v: %+v, want %+v", err, got, want)
		}
	}
	if want := `{"action":"drop the table","reason":"it is old"}`; !slices.Equal(asked, []string{want, want}) {
		t.Errorf("asked %q", asked)
	}
	if _, err := c.CreateRequest(t.Context(), platform.Ask{Kind: "task", Title: "t"}); platform.StatusOf(err) != 0 && platform.StatusOf(err) != http.StatusNotFound {
		t.Errorf("a task: %v", err)
	}
	if len(asked) != 2 {
		t.Errorf("a task was put as an approval: %q", asked)
	}
}

// TestApprovals are listed and closed on an older platform; what is not there any more is closed.
func TestApprovals(t *testing.T) {
	var closed []string
	c := answering(t, func(w http.ResponseWriter, r *http.Request) {
		switch body, _ := io.ReadAll(r.Body); r.Method + " " + r.URL.Path {
		case "POST /workspaces/us/approvals":
			closed = append(closed, string(body))
			_, _ = io.WriteString(w, `{"approval_id":"a1","status":"pending"}`)
		case "GET /workspaces/us/approvals":
			_, _ = io.WriteString(w, `[{"id":"a1","task_id":"q","status":"denied","decided_by":"auto-expired"},{"id":"a0","task_id":null,"status":"pending","decided_by":null}]`)
		case "POST /workspaces/us/approvals/a1/decide":
			closed = append(closed, string(body))
		case "POST /workspaces/us/approvals/a2/decide":
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"error":"approval not found or already decided"}`)
		case "POST /workspaces/us/approvals/a3/decide":
			w.WriteHeader(http.StatusInternalServerError)
		default:
			http.NotFound(w, r)
		}
	})
	if _, err := c.CreateRequest(t.Context(), platform.Ask{Kind: "approval", Title: "t", Detail: "d", Task: "q"}); err != nil {
		t.Fatal(err)
	}
	got, err := c.Approvals(t.Context())
	if want := []platform.Approval{{ID: "a1", Task: "q", Status: "denied", DecidedBy: "auto-expired"}, {ID: "a0", Status: "pending"}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v: %+v", err, got)
	}
	ctx := platform.Once(t.Context())
	for id, fails := range map[string]bool{"a1": false, "a2": false, "a3": true} {
		if err := c.CloseApproval(ctx, id); (err != nil) != fails {
			t.Errorf("%s: %v", id, err)
		}
	}
	if want := []string{`{"task_id":"q","action":"t","reason":"d"}`, `{"decided_by":"molecule-codex-runtime","decision":"denied"}`}; !slices.Equal(closed, want) {
		t.Errorf("the platform got %q", closed)
	}
}

// TestHint: what the platform says to do instead is kept, without secrets.
func TestHint(t *testing.T) {
	for body, want := range map[string][2]string{
		`{"error":"talk_to_user_disabled","hint":"delegate it, hunter2"}`: {"talk_to_user_disabled", "delegate it, [REDACTED]"},
		`{"hint":"ask an admin"}`:         {"", "ask an admin"},
		`{"error":"no","hint":["list"]}`:  {"no", ""},
		`{"error":{"code":5},"hint":"h"}`: {"", "h"},
	} {
		c := answering(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, body)
		})
		err := c.Notify(t.Context(), "hello")
		if got := [2]string{platform.ReasonOf(err), platform.HintOf(err)}; got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

// TestRecallOfOneScope: some platforms look into all of them.
func TestRecallOfOneScope(t *testing.T) {
	c := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode([]platform.Memory{{ID: "1", Scope: "GLOBAL"}, {ID: "2", Scope: "TEAM"}, {ID: "3", Scope: "LOCAL"}})
	})
	for scope, want := range map[string][]string{"TEAM": {"2"}, "": {"1", "2", "3"}, "local": {"3"}} {
		found, more, err := c.RecallMemory(t.Context(), platform.Recall{Scope: scope})
		var ids []string
		for _, m := range found {
			ids = append(ids, m.ID)
		}
		if err != nil || !slices.Equal(ids, want) || more {
			t.Errorf("%q: %v, more %t, %v", scope, ids, more, err)
		}
	}
	for scope, want := range map[string]bool{"TEAM": true, "": false} { // the page is full
		if _, more, err := c.RecallMemory(t.Context(), platform.Recall{Scope: scope, Limit: 3}); err != nil || more != want {
			t.Errorf("%q: more %t, %v", scope, more, err)
		}
	}
}
