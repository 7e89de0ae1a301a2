package fakeplatform_test

import (
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
)

func TestRegister(t *testing.T) {
	eras(t, func(t *testing.T, era fakeplatform.Era) {
		p := fakeplatform.Start(t, era)
		w := p.Add(fakeplatform.Workspace{Name: "w"})
		post := func(token, url string) (int, string) {
			return ask(t, p, token, "", "POST", "/registry/register", `{"id":"`+w.ID()+`","url":"`+url+`","agent_card":{"name":"a"}}`)
		}
		status, answer := post("", "http://localhost:1")
		want(t, status, answer, 401, "missing workspace auth token")
		status, answer = post("other", "http://localhost:1")
		want(t, status, answer, 401, "invalid workspace auth token")
		status, answer = post(w.Token(), "http://127.0.0.1:8000")
		want(t, status, answer, 400, "invalid request body")
		status, answer = post(w.Token(), "http://172.17.0.2:8000")
		blocked := "RFC-1918"
		if era == fakeplatform.APR {
			blocked = "invalid request body"
		}
		want(t, status, answer, 400, blocked)
		if w.Status() != "provisioning" {
			t.Errorf("after refusals: %s", w.Status())
		}
		status, answer = post(w.Token(), "http://localhost:1")
		want(t, status, answer, 200, `"status":"registered"`)
		said := fields(t, answer)
		if _, gives := said["platform_inbound_secret"]; gives != (era != fakeplatform.APR) || said["auth_token"] != nil {
			t.Errorf("the answer of %s: %s", era, answer)
		}
		if w.Status() != "online" || w.URL() != "http://localhost:1" {
			t.Errorf("registered: %s at %s", w.Status(), w.URL())
		}
		w.Revoke()
		status, answer = post("", "http://localhost:1")
		want(t, status, answer, 200, `"auth_token":"`+w.Token()+`"`)
		old := w.Token()
		w.Rotate()
		status, answer = ask(t, p, old, "", "GET", "/workspaces/"+w.ID()+"/state", "")
		want(t, status, answer, 401, "invalid")
	})
}

func TestHeartbeatsSetTheStatus(t *testing.T) {
	p := fakeplatform.Start(t, fakeplatform.AUG)
	w := p.Add(fakeplatform.Workspace{})
	for _, step := range []struct{ beat, status string }{
		{`,"active_tasks":1`, "online"},
		{`,"runtime_state":"wedged"`, "degraded"},
		{`,"error_rate":0.2`, "degraded"},
		{``, "online"},
		{`,"error_rate":0.5`, "degraded"},
		{`,"error_rate":0.09`, "online"},
	} {
		beat(t, p, w, step.beat)
		if w.Status() != step.status {
			t.Errorf("after %s: %s, want %s", step.beat, w.Status(), step.status)
		}
	}
	beat(t, p, w, `,"active_tasks":1`)
	if w.Hibernate() {
		t.Error("a busy workspace was put to sleep")
	}
	beat(t, p, w, ``)
	if !w.Hibernate() || w.Status() != "hibernated" {
		t.Error("an idle workspace was not put to sleep")
	}
	reply, err := w.Say(t.Context(), "wake up")
	if err != nil || reply.Status != 503 || reply.Header.Get("Retry-After") != "15" {
		t.Errorf("a sleeping workspace: %v %+v", err, reply)
	}
}

func TestPeers(t *testing.T) {
	eras(t, func(t *testing.T, era fakeplatform.Era) {
		p := fakeplatform.Start(t, era)
		root := p.Add(fakeplatform.Workspace{Name: "root"})
		us := p.Add(fakeplatform.Workspace{Name: "us", Parent: root.ID()})
		p.Add(fakeplatform.Workspace{Name: "sibling", Parent: root.ID()})
		child := p.Add(fakeplatform.Workspace{Name: "child", Parent: us.ID()})
		far := p.Add(fakeplatform.Workspace{Name: "far", Parent: child.ID(), Reply: func(string) string { return "" }})
		status, answer := ask(t, p, us.Token(), us.ID(), "GET", "/registry/"+us.ID()+"/peers", "")
		for _, name := range []string{"root", "sibling", "child"} {
			want(t, status, answer, 200, `"name":"`+name+`"`)
		}
		status, answer = ask(t, p, "", us.ID(), "GET", "/registry/"+us.ID()+"/peers", "")
		want(t, status, answer, 401, "missing")
		status, answer = ask(t, p, us.Token(), us.ID(), "GET", "/registry/discover/"+child.ID(), "")
		want(t, status, answer, 503, `"status":"provisioning"`)
		// What is below a child may be talked to on the older platform only.
		status, answer = ask(t, p, us.Token(), us.ID(), "GET", "/registry/discover/"+far.ID(), "")
		if era == fakeplatform.APR {
			want(t, status, answer, 200, far.ID())
		} else {
			want(t, status, answer, 403, "not authorized")
		}
	})
}
