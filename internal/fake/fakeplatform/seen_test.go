package fakeplatform_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
)

// The servers whose answers these are: real ones, with our runtime as the workspace.
const (
	april = "APR, 2026-04-27"
	june  = "JUN, 2026-06-28"
)

// said is what a server was seen to answer: the status, and a part of the body.
type said struct {
	status int
	part   string
}

// A question is asked of a double, with a workspace and a peer on it. Each era that was
// asked has its answer; August's has not been asked.
type question struct {
	name  string
	ask   func(x *asker) (status int, body string)
	april *said
	june  *said
}

// An asker asks as the workspace w.
type asker struct {
	*testing.T
	p       *fakeplatform.Platform
	w, peer *fakeplatform.Handle
	token   string
}

func (x *asker) post(path, body string) (int, string) {
	return ask(x.T, x.p, x.token, x.w.ID(), "POST", path, body)
}

func (x *asker) get(path string) (int, string) {
	return ask(x.T, x.p, x.token, x.w.ID(), "GET", path, "")
}

// open asks without a token.
func (x *asker) open(path string) (int, string) { return ask(x.T, x.p, "", "", "GET", path, "") }

func (x *asker) own(path string) string { return "/workspaces/" + x.w.ID() + path }

func (x *asker) registers(id, more string) (int, string) {
	return x.post("/registry/register", `{"id":"`+id+`","agent_card":{"name":"a"}`+more+`}`)
}

func (x *asker) at(url string) (int, string) { return x.registers(x.w.ID(), `,"url":"`+url+`"`) }

func (x *asker) polls() {
	status, answer := ask(x.T, x.p, x.peer.Token(), "", "POST", "/registry/register", `{"id":"`+x.peer.ID()+`","delivery_mode":"poll","agent_card":{"name":"a"}}`)
	want(x.T, status, answer, 200, `"delivery_mode":"poll"`)
}

// asks posts a message of the workspace's to the peer.
func (x *asker) asks() (int, string) {
	return x.post("/workspaces/"+x.peer.ID()+"/a2a", `{"jsonrpc":"2.0","id":"1","method":"message/send","params":{"message":{"messageId":"m","role":"user","parts":[{"kind":"text","text":"do it"}]}}}`)
}

// after does something before another question.
func after(first, then func(x *asker) (int, string)) func(x *asker) (int, string) {
	return func(x *asker) (int, string) {
		first(x)
		return then(x)
	}
}

func deleted(then func(x *asker) (int, string)) func(x *asker) (int, string) {
	return func(x *asker) (int, string) {
		status, answer := ask(x.T, x.p, "", "", "DELETE", x.own(""), "")
		want(x.T, status, answer, 500, "Docker daemon") // it is done all the same
		return then(x)
	}
}

const invalid = "invalid request body"

// questions are the rows of the table of what the real servers answered.
func questions() []question {
	beat := func(x *asker) (int, string) {
		return x.post("/registry/heartbeat", `{"workspace_id":"`+x.w.ID()+`"}`)
	}
	row := func(x *asker) (int, string) { return x.open(x.own("")) }
	state := func(x *asker) (int, string) { return x.get(x.own("/state")) }
	ok := func(part string) *said { return &said{200, part} }
	both := func(name string, ask func(x *asker) (int, string), answer said) question {
		return question{name, ask, &answer, &answer}
	}
	return append([]question{
		both("heartbeat of a deleted workspace", deleted(beat), said{200, `{"status":"ok"}`}),
		both("state of one that lives", state, said{200, `"deleted":false`}),
		both("state without the token", func(x *asker) (int, string) { return x.open(x.own("/state")) }, said{401, "missing"}),
		both("state of a deleted workspace", deleted(state), said{401, "invalid workspace auth token"}),
		both("registration of a deleted workspace", deleted(func(x *asker) (int, string) { return x.at("http://localhost:8000") }), said{200, `"auth_token":"`}),
		both("state, with the token that this brings", deleted(func(x *asker) (int, string) {
			_, answer := x.at("http://localhost:8000")
			x.token, _ = fields(x.T, answer)["auth_token"].(string)
			return state(x)
		}), said{401, "invalid workspace auth token"}),
		both("row of one that lives, without a token", row, said{200, `"status":"provisioning"`}),
		{"row of a deleted workspace, without a token", deleted(row), ok(`"status":"removed"`), &said{410, `"error":"workspace removed"`}},
		{"registration of an unknown id", func(x *asker) (int, string) { return x.registers("new", `,"url":"http://localhost:8000"`) }, ok(`"auth_token":"`), nil},
		{"and then its row", after(func(x *asker) (int, string) { return x.registers("new", `,"url":"http://localhost:8000"`) },
			func(x *asker) (int, string) { return x.open("/workspaces/new") }), ok(`"status":"online"`), nil},
		{"a host that is not known", func(x *asker) (int, string) { return x.at("http://no-such-host.invalid:8000") }, &said{400, invalid}, &said{400, "cannot be resolved"}},
		{"a private address", func(x *asker) (int, string) { return x.at("http://10.1.2.3:8000") }, &said{400, invalid}, &said{400, "RFC-1918"}},
		{"an address of the loopback", func(x *asker) (int, string) { return x.at("http://127.0.0.1:8000") }, &said{400, invalid}, &said{400, invalid}},
		{"no URL, for polling", func(x *asker) (int, string) { return x.registers(x.w.ID(), `,"delivery_mode":"poll"`) }, &said{400, invalid}, ok(`"delivery_mode":"poll"`)},
		{"another port of localhost", func(x *asker) (int, string) {
			x.at("http://localhost:9001")
			x.at("http://localhost:9002")
			return 200, x.w.URL()
		}, nil, ok("http://localhost:9001")},
		{"the user to a workspace without an address", func(x *asker) (int, string) {
			reply, _ := x.w.Say(x.Context(), "hi")
			return reply.Status, string(reply.Body)
		}, &said{503, "workspace has no URL"}, nil},
		both("a revoked token", func(x *asker) (int, string) {
			x.w.Rotate()
			return x.get(x.own("/delegations"))
		}, said{401, "invalid workspace auth token"}),
	}, slices.Concat(pollQuestions(), toolQuestions(), turnQuestions())...)
}

func pollQuestions() []question {
	rows := func(x *asker) (int, string) { // of the peer that polls, counted
		status, answer := ask(x.T, x.p, x.peer.Token(), "", "GET", "/workspaces/"+x.peer.ID()+"/activity?type=a2a_receive&include=peer_info", "")
		return status, strings.Repeat("row ", strings.Count(answer, `"method":"message/send"`)) + answer
	}
	delegates := func(x *asker) (int, string) {
		x.polls()
		status, answer := x.asks()
		want(x.T, status, answer, 200, "queued")
		status, answer = x.post(x.own("/delegate"), `{"target_id":"`+x.peer.ID()+`","task":"do it"}`)
		want(x.T, status, answer, 202, "delegation_id")
		await(x.T, x.p, "the delegation to arrive", func() bool { return len(x.peer.Rows()) == 2 })
		return rows(x)
	}
	return []question{
		{"a message to a peer that polls", func(x *asker) (int, string) { x.polls(); return x.asks() }, nil, &said{200, `{"delivery_mode":"poll","method":"message/send","status":"queued"}`}},
		{"the peer's inbox then", func(x *asker) (int, string) { x.polls(); x.asks(); return rows(x) }, nil, &said{200, `row [`}},
		{"the peer's inbox, with a delegation besides", delegates, nil, &said{200, `row row [`}},
		{"an acknowledgement", func(x *asker) (int, string) { return x.post(x.own("/activity/ack"), `{"acked_seq":1}`) }, &said{404, ""}, &said{404, ""}},
		{"a row about a peer's answer, of the peer", func(x *asker) (int, string) {
			return x.post(x.own("/activity"), `{"activity_type":"a2a_receive","source_id":"`+x.peer.ID()+`"}`)
		}, &said{403, "source_id"}, &said{403, "source_id"}},
	}
}

func turnQuestions() []question {
	slow := func(x *asker) (int, string) { // longer than the user's browser is held
		x.p.CanvasBudget = min(x.p.CanvasBudget, time.Nanosecond) // April has none
		release := make(chan struct{})
		a := newAgent(x.T, func(w http.ResponseWriter, r *http.Request) {
			if x.p.CanvasBudget > 0 {
				<-release
			}
			says("at last")(w, r)
		})
		x.at(a.url)
		reply, _ := x.w.Say(x.Context(), "hi")
		close(release)
		return reply.Status, string(reply.Body)
	}
	late := func(x *asker) (int, string) { // what the log has of the reply, once the workspace has told the user
		slow(x)
		status, answer := x.post(x.own("/notify"), `{"message":"at last"}`)
		want(x.T, status, answer, 200, "sent")
		for _, row := range x.w.Rows() {
			if row.Method == "notify" {
				return status, row.Type + " " + string(row.ResponseBody)
			}
		}
		return status, "no row"
	}
	killed := func(x *asker) (int, string) {
		a := newAgent(x.T, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
		x.at(a.url)
		status, answer := ask(x.T, x.p, x.peer.Token(), x.peer.ID(), "POST", x.own("/a2a"), `{"method":"message/send","params":{"message":{"messageId":"m9","role":"user","parts":[{"kind":"text","text":"hi"}]}}}`)
		a.now(says("hello"))
		beat(x.T, x.p, x.w, "")
		await(x.T, x.p, "the message to come again", func() bool { return a.count() == 2 })
		for _, body := range a.bodies() {
			if !strings.Contains(body, `"messageId":"m9"`) {
				x.Errorf("handed on: %s", body)
			}
		}
		return status, answer
	}
	return []question{
		{"a turn longer than the browser is held", slow, &said{200, "at last"}, &said{200, `"delivery_mode":"push-async"`}},
		{"the row of its reply, which comes by notify", late, nil, &said{200, `a2a_receive {"message":"at last"`}},
		{"a runtime that is killed in mid-turn", killed, &said{202, `"queued":true`}, nil},
	}
}

func toolQuestions() []question {
	remembers := func(x *asker) (int, string) {
		for _, scope := range []string{"LOCAL", "TEAM", "GLOBAL"} {
			status, answer := x.post(x.own("/memories"), `{"content":"sky","scope":"`+scope+`"}`)
			want(x.T, status, answer, 201, scope)
		}
		status, answer := x.get(x.own("/memories?q=sky&scope=TEAM"))
		found := ""
		for _, scope := range []string{"GLOBAL", "LOCAL", "TEAM"} {
			if strings.Contains(answer, `"scope":"`+scope+`"`) {
				found += scope + " "
			}
		}
		return status, found
	}
	card := func(card string) func(x *asker) (int, string) {
		return func(x *asker) (int, string) {
			a := newAgent(x.T, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"lines":[]}`)) })
			status, answer := x.post("/registry/update-card", `{"workspace_id":"`+x.w.ID()+`","agent_card":`+strings.ReplaceAll(card, "AGENT", a.url)+`}`)
			want(x.T, status, answer, 200, "updated")
			return x.get(x.own("/transcript"))
		}
	}
	muted := func(x *asker) (int, string) {
		x.w.Mute(true)
		return x.post(x.own("/notify"), `{"message":"hi"}`)
	}
	return []question{
		{"an approval", func(x *asker) (int, string) { return x.post(x.own("/approvals"), `{"action":"ship","reason":"done"}`) }, &said{201, `"approval_id":"`}, nil},
		{"a request", func(x *asker) (int, string) { return x.post(x.own("/requests"), `{"kind":"approval","title":"ship"}`) }, &said{404, ""}, &said{201, `"request_id":"`}},
		{"word to a user who wants none", muted, &said{403, `"hint":"`}, &said{403, `"hint":"`}},
		{"a plugin for an external workspace", func(x *asker) (int, string) { return x.post(x.own("/plugins"), `{"source":"local://p"}`) }, nil, &said{422, `"hint":"`}},
		{"memories of one scope", remembers, &said{200, "TEAM "}, &said{200, "GLOBAL LOCAL TEAM "}},
		{"the transcript, by a card with a URL", card(`{"name":"a","url":"AGENT"}`), &said{200, `"lines"`}, &said{200, `"lines"`}},
		{"the transcript, by a card without one", card(`{"name":"a"}`), &said{404, ""}, &said{404, ""}},
	}
}

// TestAnswersAsTheRealServers holds the double to what was seen.
func TestAnswersAsTheRealServers(t *testing.T) {
	for _, q := range questions() {
		for era, seen := range map[fakeplatform.Era]struct {
			at     string
			answer *said
		}{fakeplatform.APR: {april, q.april}, fakeplatform.JUN: {june, q.june}} {
			if seen.answer == nil { // was not asked there
				continue
			}
			t.Run(era.String()+"/"+q.name, func(t *testing.T) {
				p := fakeplatform.Start(t, era)
				x := &asker{T: t, p: p, w: p.Add(fakeplatform.Workspace{Name: "us"}), peer: p.Add(fakeplatform.Workspace{Name: "peer"})}
				x.token = x.w.Token()
				status, body := q.ask(x)
				if status != seen.answer.status || !strings.Contains(body, seen.answer.part) {
					t.Errorf("%d %s; the server of %s answers %d with %s", status, body, seen.at, seen.answer.status, seen.answer.part)
				}
			})
		}
	}
}
