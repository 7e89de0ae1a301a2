package fakeplatform_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
)

// TestTheRequestItself holds the double to what was seen on the wire.
func TestTheRequestItself(t *testing.T) {
	eras(t, func(t *testing.T, era fakeplatform.Era) {
		p := fakeplatform.Start(t, era)
		a := newAgent(t, says("hello"))
		peer, w := p.Add(fakeplatform.Workspace{}), p.Add(fakeplatform.Workspace{})
		register(t, p, w, a.url)
		status, answer := ask(t, p, peer.Token(), peer.ID(), "POST", "/workspaces/"+w.ID()+"/a2a",
			`{"jsonrpc":"2.0","id":"1","method":"message/send","params":{"message":{"role":"user","messageId":"m","parts":[{"type":"text","text":"hi"}]}}}`)
		want(t, status, answer, 200, `{"jsonrpc":"2.0","id":"1","result":{"kind":"message"`)
		got := a.got[0]
		names := ""
		for name := range got.Header {
			names += " " + name
		}
		if len(got.Header) != 4 || got.UserAgent() != "Go-http-client/1.1" || got.Header.Get("Accept-Encoding") != "gzip" || got.Header.Get("Content-Type") != "application/json" || got.Header.Get("Content-Length") == "" || got.URL.Path != "/" {
			t.Errorf("%s %s with%s", got.Method, got.URL.Path, names)
		}
		key := map[fakeplatform.Era]string{fakeplatform.APR: "type", fakeplatform.JUN: "kind", fakeplatform.AUG: "kind"}[era]
		for _, part := range []string{`"id":"1"`, `"messageId":"m"`, `"` + key + `":"text"`, `"role":"user"`} {
			if !strings.Contains(a.body[0], part) {
				t.Errorf("%s lacks %s", a.body[0], part)
			}
		}
		if strings.Contains(a.body[0], "contextId") || strings.Contains(a.body[0], peer.ID()) {
			t.Errorf("the workspace is told too much: %s", a.body[0])
		}
		rows := w.Rows()
		if len(rows) != 1 || rows[0].Source != peer.ID() || rows[0].Method != "message/send" || rows[0].Status != "ok" {
			t.Errorf("the log has %+v", rows)
		}
	})
}

func TestTheUserIsNamed(t *testing.T) {
	eras(t, func(t *testing.T, era fakeplatform.Era) {
		p := fakeplatform.Start(t, era)
		a := newAgent(t, says("hello"))
		w := p.Add(fakeplatform.Workspace{})
		register(t, p, w, a.url)
		if reply, err := w.Say(t.Context(), "hi"); err != nil || reply.Status != 200 {
			t.Fatalf("%v: %+v", err, reply)
		}
		newer := strings.Contains(a.body[0], `"contextId":"canvas-`+w.ID()+`"`) && strings.Contains(a.body[0], `"source":"canvas_user"`)
		if newer != (era == fakeplatform.AUG) || !strings.Contains(a.body[0], `"jsonrpc":"2.0"`) {
			t.Errorf("%s: %s", era, a.body[0])
		}
	})
}

func TestWhatBecomesOfFailures(t *testing.T) {
	eras(t, func(t *testing.T, era fakeplatform.Era) {
		p := fakeplatform.Start(t, era)
		a := newAgent(t, nil)
		w := p.Add(fakeplatform.Workspace{})
		try := func(serve http.HandlerFunc, wantStatus int, part string) {
			t.Helper()
			a.now(serve)
			reply, err := w.Say(t.Context(), "hi")
			if err != nil {
				t.Fatal(err)
			}
			want(t, reply.Status, string(reply.Body), wantStatus, part)
		}
		try(nil, 503, "workspace has no URL")
		register(t, p, w, a.url)
		try(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "all of the reason", http.StatusInternalServerError)
		}, 500, `{"error":"Internal Server Error"}`)
		empty := ""
		if era != fakeplatform.APR {
			empty = "agent returned empty response body"
		}
		try(func(http.ResponseWriter, *http.Request) {}, 200, empty)
		queued := map[fakeplatform.Era]int{fakeplatform.APR: 202, fakeplatform.JUN: 200, fakeplatform.AUG: 200}[era]
		try(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, queued, `"queued":true`)
		if w.Queued() != 1 {
			t.Errorf("%d wait", w.Queued())
		}
		a.now(says("at last"))
		beat(t, p, w, `,"active_tasks":1`)
		if n := a.count(); w.Queued() != 1 || n != 3 {
			t.Errorf("a busy workspace was given what waits: %d, %d", w.Queued(), n)
		}
		beat(t, p, w, ``)
		await(t, p, "the one that waits", func() bool { return a.count() == 4 && len(w.Rows()) == 3 })
		gone := p.Add(fakeplatform.Workspace{})
		register(t, p, gone, "http://localhost:1")
		reply, _ := gone.Say(t.Context(), "hi")
		want(t, reply.Status, string(reply.Body), 502, "failed to reach workspace agent")
	})
}

func TestMessagesThatComeTwice(t *testing.T) {
	p := fakeplatform.Start(t, fakeplatform.APR)
	a := newAgent(t, says("hello"))
	w := p.Add(fakeplatform.Workspace{})
	register(t, p, w, a.url)
	p.RepeatDispatch(1)
	_, _ = w.Say(t.Context(), "one")
	_, _ = w.Say(t.Context(), "two")
	if a.count() != 3 || a.body[0] != a.body[1] {
		t.Errorf("%q", a.body)
	}
}

func TestTheUserDoesNotWait(t *testing.T) {
	p := fakeplatform.Start(t, fakeplatform.AUG)
	p.CanvasBudget = 10 * time.Millisecond
	release := make(chan struct{})
	a := newAgent(t, func(w http.ResponseWriter, r *http.Request) {
		<-release
		says("late")(w, r)
	})
	w := p.Add(fakeplatform.Workspace{})
	register(t, p, w, a.url)
	reply, err := w.Say(t.Context(), "hi")
	if err != nil {
		t.Fatal(err)
	}
	want(t, reply.Status, string(reply.Body), 200, `"delivery_mode":"push-async"`)
	close(release)
	await(t, p, "the late reply", func() bool { return len(w.LateReplies()) == 1 })
}

func TestSilenceEndsADispatch(t *testing.T) {
	p := fakeplatform.Start(t, fakeplatform.APR)
	p.IdleWindow = 20 * time.Millisecond
	a := newAgent(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	w := p.Add(fakeplatform.Workspace{})
	register(t, p, w, a.url)
	reply, err := w.Say(t.Context(), "hi")
	if err != nil || reply.Status != 202 {
		t.Errorf("%v: %+v", err, reply)
	}
}

func TestPolling(t *testing.T) {
	p := fakeplatform.Start(t, fakeplatform.AUG)
	w, peer := p.Add(fakeplatform.Workspace{Poll: true}), p.Add(fakeplatform.Workspace{})
	body := `{"method":"message/send","params":{"message":{"messageId":"m","parts":[{"kind":"text","text":"hi"}]}}}`
	for range 2 {
		status, answer := ask(t, p, peer.Token(), peer.ID(), "POST", "/workspaces/"+w.ID()+"/a2a", body)
		want(t, status, answer, 200, `{"delivery_mode":"poll","method":"message/send","status":"queued"}`)
	}
	if rows := w.Rows(); len(rows) != 1 || rows[0].Source != peer.ID() {
		t.Errorf("%+v", rows)
	}
}

func TestDelegation(t *testing.T) {
	eras(t, func(t *testing.T, era fakeplatform.Era) {
		p := fakeplatform.Start(t, era)
		p.RetryPause = time.Millisecond
		us := p.Add(fakeplatform.Workspace{})
		echo := p.Add(fakeplatform.Workspace{Reply: func(text string) string { return "did " + text }})
		give := func(target string) (int, string) {
			return ask(t, p, us.Token(), us.ID(), "POST", "/workspaces/"+us.ID()+"/delegate",
				`{"target_id":"`+target+`","task":"this","idempotency_key":"`+target+`"}`)
		}
		status, answer := give(echo.ID())
		want(t, status, answer, 202, `"status":"delegated"`)
		id := fields(t, answer)["delegation_id"].(string)
		status, answer = give(echo.ID())
		want(t, status, answer, 200, `"idempotent_hit":true`)
		status, answer = give(us.ID())
		want(t, status, answer, 400, "self-delegation")
		status, answer = give("no id")
		want(t, status, answer, 400, "invalid")
		list := func() (int, string) {
			return ask(t, p, us.Token(), us.ID(), "GET", "/workspaces/"+us.ID()+"/delegations", "")
		}
		await(t, p, "the end", func() bool {
			_, answer := list()
			return strings.Contains(answer, `"response_preview":"did this"`)
		})
		d := p.Dispatches()[0]
		if !strings.Contains(string(d.Body), `"delegation_id":"`+id+`"`) || !strings.Contains(string(d.Body), `"messageId":"`+id+`"`) {
			t.Errorf("%s", d.Body)
		}
		nowhere := p.Add(fakeplatform.Workspace{})
		give(nowhere.ID())
		await(t, p, "the failure", func() bool {
			_, answer := list()
			return strings.Contains(answer, "workspace has no URL")
		})
	})
}
