package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// find is a shell command that says which secrets stand in what it reads. It prints no
// more than that: codex shows the model the beginning and the end of a long output only.
func find(from string) string {
	return from + ` 2>/dev/null | tr '\0' '\n' | grep -aoE '(sk-)?` + mark + `[A-Za-z0-9_-]+|` + forwardToken + `[A-Z2-7]+' | sort -u`
}

// forwardToken begins what codex shows to the forwarder that has the key.
const forwardToken = "MOLECULE_FORWARD_TOKEN="

// view is a command that looks at what its name says.
func (g *garden) view(name string) string {
	files := func(where string) string { return find("find " + where + ` -type f -exec cat {} +`) }
	switch name {
	case "environment":
		return find("env")
	case "processes":
		return find("cat /proc/[0-9]*/environ")
	case "command lines":
		return find("cat /proc/[0-9]*/cmdline")
	case "CODEX_HOME":
		return files(g.Home)
	case "state":
		return files(g.State)
	case "wire":
		return files(filepath.Dir(g.wire))
	case "work":
		return files(g.Work)
	}
	return files(g.configs)
}

// obey is what the model does: it looks at a view, uses a tool, or refuses.
func (g *garden) obey(t *fakemodel.Turn) {
	verb, rest, _ := strings.Cut(t.LastUserText(), " ")
	if len(t.NewToolOutputs()) > 0 {
		t.Say("done")
		return
	}
	everything := g.all() + " " + t.Headers.Get("Authorization")
	quoted, _ := json.Marshal(everything)
	switch verb {
	case "look":
		t.Exec(g.view(rest))
	case "run":
		t.Exec(strings.ReplaceAll(rest, "EVERYTHING", g.seen()))
	case "call":
		name, arguments, _ := strings.Cut(rest, " ")
		arguments = strings.ReplaceAll(arguments, "EVERYTHING", g.seen())
		if g.door == "mcp" {
			t.CallIn("mcp__molecule", name, arguments)
		} else {
			t.Call(name, arguments)
		}
	case "fail":
		t.Fail(map[string]int{"400": 400, "401": 401, "404": 404}[rest], `{"error":{"type":"invalid_request_error","code":"no","message":`+string(quoted)+`}}`)
	case "quote": // the credential alone: what an endpoint has, and codex has not
		said := "you sent " + t.Headers.Get("Authorization")
		if rest == "stream" {
			t.FailStream("invalid_prompt", said)
			return
		}
		t.FailWith(http.StatusBadRequest, http.Header{"Www-Authenticate": {said}, "X-Error": {said}}, `{"error":{"type":"invalid_request_error","code":"no","message":"`+said+`"}}`)
	case "break":
		t.FailStream("invalid_prompt", everything)
	default:
		t.Say("hello")
	}
}

// look has codex look at a view, and returns the secrets that the model is then shown.
func (g *garden) look(view string) []string {
	g.t.Helper()
	g.say("look-"+view, "look "+view)
	requests := g.Model.Requests()
	outputs := requests[len(requests)-1].NewToolOutputs()
	if len(outputs) != 1 {
		g.t.Fatalf("there is no output of %s", view)
	}
	return g.in(outputs[0].Text)
}

// quotes has the endpoint quote the key that it got, as a refusal and within an answer,
// and returns what callers are told.
func (g *garden) quotes() string {
	var answers []object
	for _, how := range []string{"refusal", "stream"} {
		answers = append(answers, g.do("SendMessage", object{"message": message("quote-"+how, "quote-"+how, "quote "+how)}))
	}
	told, _ := json.Marshal(answers)
	return string(told)
}

// tools has the model use tools, with all that it knows in what it says, and fail with some.
func (g *garden) tools() {
	for i, text := range []string{
		`call delegate_task {"workspace_id":"` + g.peer.ID() + `","task":"a poem"}`,
		`call commit_memory {"content":"EVERYTHING"}`,
		`call recall_memory {"query":""}`,
		`call get_runtime_identity {}`,
		`call get_workspace_info {}`,
		`call update_agent_card {"card":{"name":"worker","description":"EVERYTHING","skills":[{"id":"EVERYTHING"}]}}`,
		`call delegate_task {"workspace_id":"EVERYTHING","task":"EVERYTHING"}`,
		`call send_message_to_user {"message":"x","attachments":["EVERYTHING"]}`,
		"run false EVERYTHING",
		"run sh -c 'echo EVERYTHING; exit 3'",
	} {
		g.say(fmt.Sprintf("tool-%d", i), text)
	}
}

// refusals has the platform and the model refuse with all secrets in what they say, and
// returns what callers are told.
func (g *garden) refusals() string {
	var answers []object
	body, _ := json.Marshal(object{"error": g.all(), "code": g.all()})
	for _, status := range []int{http.StatusForbidden, http.StatusInternalServerError} {
		undo := g.platform.Behave("/*", fakeplatform.Refuse(status, string(body)))
		for i, call := range []string{`commit_memory {"content":"x"}`, `list_peers {}`, `send_message_to_user {"message":"x"}`} {
			answers = append(answers, g.say(fmt.Sprintf("refused-%d-%d", status, i), "call "+call))
		}
		undo()
	}
	undo := g.platform.Behave("/*", fakeplatform.Answer(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, g.all()) }))
	answers = append(answers, g.say("nonsense", "call list_peers {}"))
	undo()
	for i, refusal := range []string{"fail 400", "break", "fail 404", "fail 401"} {
		answers = append(answers, g.do("SendMessage", object{
			"message": message(fmt.Sprintf("refuse-%d", i), fmt.Sprintf("r%d", i), refusal), "configuration": object{"returnImmediately": refusal == "fail 401"},
		}))
	}
	progtest.WaitFor(g.t, "the credential to be refused", func() bool {
		return strings.Contains(string(g.fetch(http.MethodGet, "/readyz", nil)), "refuses the credential")
	})
	tasks, _ := json.Marshal([]any{answers, g.do("GetTask", object{"id": at(answers[len(answers)-1], "result", "task", "id")})})
	return string(tasks)
}

// pushes asks for push notifications, of a receiver that refuses and quotes what it is
// shown, and of one that is not there.
func (g *garden) pushes() {
	var posts atomic.Int32
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = fmt.Fprint(w, r.Header, r.URL)
		posts.Add(1)
	}))
	g.t.Cleanup(hook.Close)
	token, credentials, key := g.plant(planted("push-token")), g.plant(planted("push-credentials")), g.plant(planted("push-url"))
	for i, url := range []string{hook.URL, "http://127.0.0.1:1"} {
		g.do("SendMessage", object{"message": message(fmt.Sprintf("push-%d", i), "p", "hello"), "configuration": object{"taskPushNotificationConfig": object{
			"url": url + "/?key=" + key, "token": token, "authentication": object{"scheme": "Bearer", "credentials": credentials},
		}}})
	}
	progtest.WaitFor(g.t, "the receiver to be told", func() bool { return posts.Load() > 0 })
}

// platformTold is all that the platform was told, but for what goes to a peer and the
// token in its place.
func (g *garden) platformTold() string {
	var all strings.Builder
	for _, r := range g.platform.Requests() {
		if strings.HasSuffix(r.Path, "/a2a") {
			continue
		}
		r.Header.Del("Authorization")
		fmt.Fprintf(&all, "%s %s %v %s\n", r.Path, r.Query.Encode(), r.Header, r.Body)
	}
	return all.String()
}

// doctor is what runtime doctor prints beside the program.
func (g *garden) doctor(arguments ...string) string {
	cmd := exec.CommandContext(g.t.Context(), binary, append([]string{"doctor"}, arguments...)...)
	cmd.Env = g.Environ()
	out, _ := cmd.CombinedOutput() // it fails: the program has its port
	if !strings.Contains(string(out), "credential") {
		g.t.Errorf("doctor says %s", out)
	}
	return string(out)
}
