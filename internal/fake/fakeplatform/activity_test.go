package fakeplatform_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
)

func TestActivityAndItsCursor(t *testing.T) {
	eras(t, func(t *testing.T, era fakeplatform.Era) {
		p := fakeplatform.Start(t, era)
		w := p.Add(fakeplatform.Workspace{})
		path := "/workspaces/" + w.ID() + "/activity"
		for i := range 5 {
			status, answer := ask(t, p, w.Token(), "", "POST", path, `{"activity_type":"agent_log","method":"m`+strconv.Itoa(i)+`"}`)
			want(t, status, answer, 200, "logged")
		}
		methods := func(query string) string {
			t.Helper()
			status, answer := ask(t, p, w.Token(), "", "GET", path+query, "")
			var rows []struct{ Method string }
			if err := json.Unmarshal([]byte(answer), &rows); err != nil || status != 200 {
				return strconv.Itoa(status)
			}
			var out []string
			for _, row := range rows {
				out = append(out, row.Method)
			}
			return strings.Join(out, " ")
		}
		rows := w.Rows()
		cases := map[string][2]string{ // in April, and since
			"":                           {"m4 m3 m2 m1 m0", "m4 m3 m2 m1 m0"},
			"?limit=2":                   {"m4 m3", "m4 m3"},
			"?since_id=" + rows[1].ID:    {"m4 m3 m2 m1 m0", "m2 m3 m4"},
			"?since_id=unknown":          {"m4 m3 m2 m1 m0", "410"},
			"?since_secs=600":            {"m4 m3 m2 m1 m0", "m4 m3 m2 m1 m0"},
			"?since_secs=x":              {"m4 m3 m2 m1 m0", "400"},
			"?type=a2a_receive":          {"", ""},
			"?source=agent&since_secs=1": {"", ""},
		}
		since := min(int(era), 1)
		for query, wants := range cases {
			if got := methods(query); got != wants[since] {
				t.Errorf("%q: %s, want %s", query, got, wants[since])
			}
		}
		w.Forget(2)
		if got := methods("?since_id=" + rows[1].ID); era != fakeplatform.APR && got != "410" {
			t.Errorf("a pruned cursor: %s", got)
		}
		status, answer := ask(t, p, w.Token(), "", "POST", path+"/ack", `{"acked_seq":3}`)
		if era == fakeplatform.AUG {
			want(t, status, answer, 200, `{"last_acked_seq":3}`)
		} else {
			want(t, status, answer, 404, "404 page not found")
		}
		status, answer = ask(t, p, w.Token(), "", "POST", path, `{"activity_type":"else"}`)
		want(t, status, answer, 400, "activity_type")
		status, answer = ask(t, p, w.Token(), "", "POST", path, `{"activity_type":"error","source_id":"other"}`)
		want(t, status, answer, 403, "source_id")
	})
}

func TestRudeness(t *testing.T) {
	p := fakeplatform.Start(t, fakeplatform.AUG)
	w := p.Add(fakeplatform.Workspace{})
	path := "/workspaces/" + w.ID() + "/notify"
	say := func() (int, string) { return ask(t, p, w.Token(), "", "POST", path, `{"message":"hi"}`) }
	for name, c := range map[string]struct {
		how    fakeplatform.Rudeness
		status int
		part   string
		done   int // notices
	}{
		"refuse": {fakeplatform.Refuse(503), 503, "service unavailable", 0},
		"many":   {fakeplatform.TooMany(0), 429, "rate limit", 0},
		"html":   {fakeplatform.HTML404(), 404, "<!DOCTYPE html>", 0},
		"cut":    {fakeplatform.Cut(4), 200, "unexpected EOF", 1},
		"lose":   {fakeplatform.Lose(), 0, "EOF", 1},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(w.Notices())
			p.Behave("POST *"+"/notify", c.how.Times(1))
			status, answer := say()
			want(t, status, answer, c.status, c.part)
			if done := len(w.Notices()) - before; done != c.done {
				t.Errorf("it was done %d times", done)
			}
			status, answer = say()
			want(t, status, answer, 200, "sent")
		})
	}
	undo := p.Behave("/registry/*", fakeplatform.Refuse(500))
	status, answer := ask(t, p, "", "", "POST", "/registry/heartbeat", "{}")
	want(t, status, answer, 500, "")
	undo()
	status, answer = ask(t, p, "", "", "POST", "/registry/heartbeat", "{}")
	want(t, status, answer, 401, "")
	p.Outage(true)
	if status, answer = say(); status != 0 {
		t.Errorf("in an outage: %d %s", status, answer)
	}
	p.Outage(false)
	status, answer = say()
	want(t, status, answer, 200, "sent")
	if n := len(p.Requests("POST */notify")); n != 12 {
		t.Errorf("%d requests were written down", n)
	}
	if last := p.Requests("*/notify"); string(last[11].Body) != `{"message":"hi"}` || last[11].Status != 200 || last[10].Status != 0 {
		t.Errorf("%+v", last[10:])
	}
}
