package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/upgrades"
)

// A front stands before the scripted model, and does with upgrades what it is told.
type front struct {
	*httptest.Server
	upgrade  atomic.Pointer[http.HandlerFunc] // nil: the model takes them
	upgrades atomic.Int32
	posts    atomic.Int32

	mu     sync.Mutex // guards the fields below
	life   context.Context
	cutAll context.CancelFunc
}

func newFront(t *testing.T, model *modeltest.Model) *front {
	t.Helper()
	f := &front{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
			if r.Method == http.MethodPost {
				f.posts.Add(1)
			}
			model.ServeHTTP(w, r)
			return
		}
		f.upgrades.Add(1)
		if odd := f.upgrade.Load(); odd != nil {
			(*odd)(w, r)
			return
		}
		model.ServeHTTP(w, r.WithContext(f.living(r)))
	}))
	f.cut()
	t.Cleanup(f.Close)
	t.Cleanup(f.cut)
	return f
}

// living is the context of an upgrade, which ends when all are cut.
func (f *front) living(r *http.Request) context.Context {
	f.mu.Lock()
	defer f.mu.Unlock()
	ctx, cancel := context.WithCancel(r.Context())
	context.AfterFunc(f.life, cancel)
	return ctx
}

// cut closes all WebSockets.
func (f *front) cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cutAll != nil {
		f.cutAll()
	}
	f.life, f.cutAll = context.WithCancel(context.Background())
}

// takes has the front do that with upgrades.
func (f *front) takes(odd http.HandlerFunc) *front {
	f.upgrade.Store(&odd)
	return f
}

// TestUpgrades has an endpoint do each odd thing with an upgrade: it is asked over HTTP, no turn fails,
// and the next conversation does not try again.
func TestUpgrades(t *testing.T) {
	t.Parallel()
	// What the forwarder makes of each, its own tests say, too: codex is told the same of all.
	always := []string{"page", "silence", "cut", "another key", "401", "426", "503"}
	for name, odd := range upgrades.Refusals("no") {
		t.Run(name, func(t *testing.T) {
			if !slices.Contains(always, name) {
				longtest.Mark(t)
			}
			t.Parallel()
			model := modeltest.Start(t, fakemodel.Keywords)
			f := newFront(t, model).takes(odd)
			p := startOn(t, binary, model, "OPENAI_BASE_URL="+f.URL+"/v1")
			for i, in := range []string{"one", "one", "two"} {
				if task := p.send(fmt.Sprint("m", i), in, "say well"); text(task) != "well" {
					t.Errorf("message %d: %v", i, task["status"])
				}
			}
			// An upgrade that is cut was perhaps on a connection that had ended, and is sent again.
			if n := f.upgrades.Load(); n < 1 || n > 2 || f.posts.Load() != 3 {
				t.Errorf("%d upgrades, %d requests over HTTP", n, f.posts.Load())
			}
			for _, r := range model.Requests() {
				if r.Socket {
					t.Errorf("request %d came by a WebSocket", r.Seq)
				}
			}
			if log := p.Log(); strings.Contains(log, "econnecting") {
				t.Errorf("codex has tried in vain:\n%s", log)
			}
		})
	}
}

// TestUpgradesAreTaken has only what is new sent by a WebSocket, and no request over HTTP.
func TestUpgradesAreTaken(t *testing.T) {
	t.Parallel()
	model := modeltest.Start(t, fakemodel.Keywords)
	f := newFront(t, model)
	p := startOn(t, binary, model, "OPENAI_BASE_URL="+f.URL+"/v1")
	for i := range 3 {
		if task := p.send(fmt.Sprint("m", i), "one", "say "+strings.Repeat("well ", 2000)+"done"); !strings.HasSuffix(text(task), "done") {
			t.Errorf("message %d: %v", i, task["status"])
		}
	}
	requests := model.Requests()
	for i, r := range requests {
		if !r.Socket || i > 0 && r.Sent > len(r.Body)/2 {
			t.Errorf("request %d: by a WebSocket %v, %d bytes of %d", r.Seq, r.Socket, r.Sent, len(r.Body))
		}
		if got := r.Headers.Get("Authorization"); got != "Bearer key-of-the-e2e-suite" {
			t.Errorf("request %d shows %q", r.Seq, got)
		}
	}
	if len(requests) != 3 || f.upgrades.Load() != 1 || f.posts.Load() != 0 {
		t.Errorf("%d requests, %d upgrades, %d requests over HTTP", len(requests), f.upgrades.Load(), f.posts.Load())
	}
}

// TestSocketsThatEnd has an endpoint close its WebSockets, within an answer and between two, and then
// take no more of them: each message is answered.
func TestSocketsThatEnd(t *testing.T) {
	t.Parallel()
	var drop atomic.Int32
	model := modeltest.Start(t, func(turn *fakemodel.Turn) {
		if drop.Add(-1) >= 0 {
			turn.Drop()
			return
		}
		fakemodel.Keywords(turn)
	})
	f := newFront(t, model)
	p := startOn(t, binary, model, "OPENAI_BASE_URL="+f.URL+"/v1")
	said := 0
	say := func(what, in string) {
		t.Helper()
		said++
		if task := p.send(fmt.Sprint("m", said), in, "say well"); text(task) != "well" {
			t.Errorf("%s: %v", what, task["status"])
		}
	}
	say("at first", "one")
	drop.Store(1)
	say("cut within an answer", "one")
	f.cut()
	say("closed in between", "one")
	f.takes(upgrades.Status(http.StatusNotFound))
	f.cut()
	say("refused from then on", "one")
	say("another conversation", "two")
	if f.posts.Load() != 2 {
		t.Errorf("%d requests over HTTP", f.posts.Load())
	}
}

// TestSteerByASocket has codex interrupt the answer, and go on with what is new by the same socket.
func TestSteerByASocket(t *testing.T) {
	t.Parallel()
	model := modeltest.Start(t, fakemodel.Keywords)
	f := newFront(t, model)
	p := startOn(t, binary, model, "OPENAI_BASE_URL="+f.URL+"/v1")
	id, _ := p.begin("m1", "one", "say first\nhang")["id"].(string)
	p.modelAsked(1)
	protocols[0].begin(p, "m2", "one", id, "say other")
	if task := p.ended(id); state(task) != "TASK_STATE_COMPLETED" || !strings.HasSuffix(text(task), "other") {
		t.Errorf("%v", task)
	}
	requests := model.Requests()
	if len(requests) != 2 || requests[0].Outcome != fakemodel.Interrupted || !requests[1].Socket || requests[1].Sent > len(requests[1].Body)/2 || f.upgrades.Load() != 1 {
		t.Errorf("%d upgrades, and %d requests: the first was %s", f.upgrades.Load(), len(requests), requests[0].Outcome)
	}
}

// TestSteerWhereNothingIsInterrupted has an endpoint that knows of no interruption go on with its answer:
// the message that steers does not wait for the answer's end.
func TestSteerWhereNothingIsInterrupted(t *testing.T) {
	t.Parallel()
	model := modeltest.Start(t, fakemodel.Keywords)
	model.GoOn()
	p := startOn(t, binary, model)
	id, _ := p.begin("m1", "one", "say first\nhang")["id"].(string)
	p.modelAsked(1)
	protocols[0].begin(p, "m2", "one", id, "say other")
	if task := p.ended(id); state(task) != "TASK_STATE_COMPLETED" || !strings.HasSuffix(text(task), "other") {
		t.Errorf("%v", task)
	}
	if log := p.Log(); model.Requests()[0].Outcome != fakemodel.Dropped || !strings.Contains(log, "an answer that codex has interrupted goes on") {
		t.Errorf("the first request was %s:\n%s", model.Requests()[0].Outcome, log)
	}
}

// failures are what endpoints answer a request, by what is said to the model.
func failures() map[string]func(*fakemodel.Turn) {
	refused := func(status int, kind, code, message string) func(*fakemodel.Turn) {
		return func(turn *fakemodel.Turn) {
			turn.Fail(status, fmt.Sprintf(`{"error":{"type":%q,"code":%q,"message":%q}}`, kind, code, message))
		}
	}
	stream := func(code, message string) func(*fakemodel.Turn) {
		return func(turn *fakemodel.Turn) { turn.FailStream(code, message) }
	}
	resets := time.Now().Add(time.Hour).Unix()
	return map[string]func(*fakemodel.Turn){
		"a wrong key":   refused(401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
		"no right":      refused(403, "invalid_request_error", "forbidden", "You have no access to this."),
		"no model":      refused(404, "invalid_request_error", "model_not_found", "There is no such model."),
		"a bad request": refused(400, "invalid_request_error", "invalid_value", "That is no request."),
		"no money":      refused(429, "insufficient_quota", "insufficient_quota", "You have exceeded your current quota."),
		"a limit": func(turn *fakemodel.Turn) {
			turn.FailWith(429, fakemodel.Allowance(100, resets), fmt.Sprintf(`{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","resets_at":%d}}`, resets))
		},
		"a long context":        stream("context_length_exceeded", "That is too long."),
		"no money, in a stream": stream("insufficient_quota", "You have exceeded your current quota."),
		"a policy, in a stream": stream("cyber_policy", "This is against the policy."),
		"a limit, in a stream":  stream("usage_limit_reached", "The limit has been reached."),

		"a prompt, in a stream":  stream("invalid_prompt", "That is no prompt."),
		"too long a request":     refused(413, "invalid_request_error", "too_large", "That is too large."),
		"unprocessable":          refused(422, "invalid_request_error", "unprocessable", "That cannot be done."),
		"an image that is wrong": refused(400, "invalid_request_error", "invalid_image", "That is no picture."),
	}
}

// TestFailuresByEitherWay has each failure mean by a WebSocket what it means over HTTP.
func TestFailuresByEitherWay(t *testing.T) {
	t.Parallel()
	alike := []string{"a prompt, in a stream", "too long a request", "unprocessable", "an image that is wrong"} // to others, for us
	for name, fails := range failures() {
		t.Run(name, func(t *testing.T) {
			if slices.Contains(alike, name) {
				longtest.Mark(t)
			}
			t.Parallel()
			failed := map[bool]object{}
			for _, socket := range []bool{true, false} {
				model := modeltest.Start(t, fails)
				f := newFront(t, model)
				if !socket {
					f.takes(upgrades.Status(http.StatusUpgradeRequired))
				}
				p := startOn(t, binary, model, "OPENAI_BASE_URL="+f.URL+"/v1")
				progtest.WaitFor(t, "the start", func() bool { code, _ := p.fetch("/readyz"); return code == http.StatusOK })
				task := p.begin("m1", "one", "say well")
				progtest.WaitFor(t, "the failure", func() bool {
					task = p.get(task["id"])
					return state(task) != "TASK_STATE_SUBMITTED" && state(task) != "TASK_STATE_WORKING"
				})
				if socket != model.Requests()[0].Socket {
					t.Fatal("it was asked the other way")
				}
				code, _ := p.fetch("/readyz")
				failed[socket] = object{"state": state(task), "words": statusText(task), "failure": at(task, "metadata", "failure"), "ready": code}
			}
			if !reflect.DeepEqual(failed[true], failed[false]) {
				t.Errorf("by a WebSocket: %v\nover HTTP: %v", failed[true], failed[false])
			}
		})
	}
}
