package fakeplatform_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
)

// TestApprovals of the oldest platform, as its source has them.
func TestApprovals(t *testing.T) {
	p := fakeplatform.Start(t, fakeplatform.APR)
	w := p.Add(fakeplatform.Workspace{Name: "w"})
	w.Mute(true) // which says nothing of approvals
	path := "/workspaces/" + w.ID() + "/approvals"
	status, answer := ask(t, p, w.Token(), "", "POST", path, `{"reason":"r"}`)
	want(t, status, answer, 400, "invalid request body")
	for _, action := range []string{"a", "b", "c"} {
		status, answer = ask(t, p, w.Token(), "", "POST", path, `{"task_id":"t-`+action+`","action":"`+action+`","reason":"r"}`)
		want(t, status, answer, 201, `"status":"pending"`)
	}
	asks := w.Asks()
	status, answer = ask(t, p, w.Token(), "", "POST", path+"/"+asks[0].ID+"/decide", `{"decision":"approved"}`)
	want(t, status, answer, 200, `"status":"approved"`)
	status, answer = ask(t, p, w.Token(), "", "POST", path+"/"+asks[0].ID+"/decide", `{"decision":"denied"}`)
	want(t, status, answer, 404, "already decided")
	status, answer = ask(t, p, w.Token(), "", "POST", path+"/"+asks[1].ID+"/decide", `{"decision":"done"}`)
	want(t, status, answer, 400, "decision must be")
	if reply, err := w.Press(t.Context(), asks[1].ID, false); err != nil || reply.Body != nil {
		t.Errorf("a press is told of: %s, %v", reply.Body, err)
	}
	w.Expire(9 * time.Minute)
	status, answer = ask(t, p, w.Token(), "", "GET", path, "")
	want(t, status, answer, 200, `"status":"pending"`)
	w.Expire(11 * time.Minute)
	status, answer = ask(t, p, w.Token(), "", "GET", path, "")
	var list []struct {
		Action  string `json:"action"`
		Task    string `json:"task_id"`
		Status  string `json:"status"`
		Decided string `json:"decided_by"`
	}
	if err := json.Unmarshal([]byte(answer), &list); status != 200 || err != nil || len(list) != 3 {
		t.Fatalf("%d %s, %v", status, answer, err)
	}
	var said []string
	for _, a := range list {
		said = append(said, a.Task+" "+a.Status+" "+a.Decided)
	}
	if got := strings.Join(said, ", "); got != "t-c denied auto-expired, t-b denied human, t-a approved human" {
		t.Errorf("the list has %s", got)
	}
	for range 60 {
		ask(t, p, w.Token(), "", "POST", path, `{"action":"more"}`)
	}
	_, answer = ask(t, p, w.Token(), "", "GET", path, "")
	if err := json.Unmarshal([]byte(answer), &list); err != nil || len(list) != 50 {
		t.Errorf("the list has %d, %v", len(list), err)
	}
	status, answer = ask(t, p, "wrong", "", "GET", path, "")
	want(t, status, answer, 401, "")
}

// TestNewerRequests: there is no list of approvals, and a workspace that is muted is refused.
func TestNewerRequests(t *testing.T) {
	p := fakeplatform.Start(t, fakeplatform.AUG)
	w := p.Add(fakeplatform.Workspace{Name: "w"})
	path := "/workspaces/" + w.ID()
	status, answer := ask(t, p, w.Token(), "", "GET", path+"/approvals", "")
	want(t, status, answer, 404, "")
	body := `{"kind":"approval","recipient_type":"user","recipient_id":"","title":"t","detail":"d"}`
	status, answer = ask(t, p, w.Token(), "", "POST", path+"/requests", body)
	want(t, status, answer, 201, `"request_id":`)
	w.Mute(true)
	status, answer = ask(t, p, w.Token(), "", "POST", path+"/requests", body)
	want(t, status, answer, 403, "talk_to_user_disabled")
}
