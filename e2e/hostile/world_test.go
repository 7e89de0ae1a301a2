package hostile

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

type object = map[string]any

// The secrets that are planted. None of them has the shape of a key, so that what finds
// them is that they are known.
const (
	theToken     = "planted-runtime-token-Zr81"
	theKey       = "planted-provider-key-Kq22"
	theInbound   = "planted-inbound-secret-Wd53"
	theMembers   = "planted-workspace-token-Ty64"
	theWords     = "planted-words-of-a-conversation-Ub75"
	theFile      = "planted-file-outside-Lm86"
	refusedMark  = "refused-" // begins what must not get in
	theWorkspace = "7d2f0c9e-35c1-4a52-9b1e-0f6f6a2f1c11"
)

// A world is one running program with secrets in it.
type world struct {
	*progtest.Program
	t     *testing.T
	model *modeltest.Model

	token    string // RUNTIME_TOKEN; "" asks for none
	inbound  string // the platform's; "" where there is none
	strict   bool   // callers are asked for the platform's secret
	cookie   string // of a session of the console
	key      string // the page's half of it
	probes   bool   // nothing but probes is served
	platform *fakeplatform.Platform
	handle   *fakeplatform.Handle
	configs  string

	outside string // a directory that nothing here may read
	task    string // the id of the conversation with the words in it
	refused atomic.Int64
}

// newWorld starts the program standing alone.
func newWorld(t *testing.T, settings ...string) *world {
	t.Helper()
	x := &world{t: t}
	x.launch("serve", settings...)
	x.plant()
	return x
}

// newWorkspace starts the program as a workspace that its platform reaches.
func newWorkspace(t *testing.T, settings ...string) *world {
	t.Helper()
	return newWorkspaceAs(t, binary, []string{"serve"}, settings...)
}

// newWorkspaceAs is newWorkspace by way of another program.
func newWorkspaceAs(t *testing.T, program string, args []string, settings ...string) *world {
	t.Helper()
	x := &world{t: t, inbound: theInbound, platform: fakeplatform.Start(t, fakeplatform.AUG), configs: codextest.Dir(t, "configs")}
	addr := progtest.FreeAddr(t)
	x.handle = x.platform.Add(fakeplatform.Workspace{
		ID: theWorkspace, Name: "Ada", URL: "http://" + addr, Status: "online", Token: theMembers, InboundSecret: theInbound,
	})
	x.write(filepath.Join(x.configs, ".auth_token"), theMembers+"\n")
	x.write(filepath.Join(x.configs, ".platform_inbound_secret"), theInbound+"\n")
	x.launchAs(program, args, append([]string{
		"WORKSPACE_ID=" + x.handle.ID(), "PLATFORM_URL=" + x.platform.URL, "CONFIGS_DIR=" + x.configs, "RUNTIME_ADDR=" + addr,
	}, settings...)...)
	x.plant()
	return x
}

func (x *world) launch(command string, settings ...string) {
	x.t.Helper()
	x.launchAs(binary, []string{command}, settings...)
}

// launchAs is launch by way of another program.
func (x *world) launchAs(program string, args []string, settings ...string) {
	x.t.Helper()
	if x.model == nil {
		x.model = modeltest.Start(x.t, fakemodel.Keywords)
	}
	x.outside = codextest.Dir(x.t, "outside")
	x.write(filepath.Join(x.outside, "file.txt"), theFile)
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		switch name {
		case "RUNTIME_TOKEN":
			x.token = value
		case "MOLECULE_A2A_REQUIRE_AUTH":
			x.strict = true
		}
	}
	x.Program = progtest.Launch(x.t, program, args, append([]string{
		"OPENAI_BASE_URL=" + x.model.BaseURL(), "OPENAI_API_KEY=" + theKey, "RUNTIME_LOG=debug",
	}, settings...)...)
	x.AwaitListening()
}

// plant has a conversation that strangers must not see.
func (x *world) plant() {
	x.t.Helper()
	a := x.send(x.ours(message("planted", "say "+theWords)))
	if x.task = taskOf(a); x.task == "" || !strings.Contains(a.body, theWords) {
		x.t.Fatalf("the conversation: %s", a)
	}
	if x.token != "" {
		x.login()
	}
}

// taskOf is the id of the task in an answer.
func taskOf(a answer) string {
	var got struct {
		Result struct{ Task struct{ ID string } }
	}
	_ = json.Unmarshal([]byte(a.body), &got)
	return got.Result.Task.ID
}

func (x *world) login() {
	x.t.Helper()
	a := x.send(call{method: "POST", path: "/console/login", body: "token=" + x.token, header: []string{"Content-Type: application/x-www-form-urlencoded"}})
	x.cookie, _, _ = strings.Cut(a.header.Get("Set-Cookie"), ";")
	_, key, _ := strings.Cut(a.body, `name="session-key" content="`)
	x.key, _, _ = strings.Cut(key, `"`)
	if x.cookie == "" || x.key == "" {
		x.t.Fatalf("the login: %s", a)
	}
}

// message is a JSON-RPC call that sends a text in a conversation of its own.
func message(id, text string) string {
	return rpc("SendMessage", object{"message": object{"messageId": id, "role": "ROLE_USER", "parts": []object{{"text": text}}}})
}

func rpc(method string, params any) string {
	body, err := json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		panic(err)
	}
	return string(body)
}

// ours is a call of A2A by a caller who may make it.
func (x *world) ours(body string) call {
	c := call{method: "POST", path: "/", body: body, header: []string{"Content-Type: application/json"}}
	if x.token != "" {
		c.header = append(c.header, "Authorization: Bearer "+x.token)
	} else if x.strict {
		c.header = append(c.header, "Authorization: Bearer "+x.inbound)
	}
	return c
}

func (x *world) addr() string { return strings.TrimPrefix(x.URL, "http://") }

// send makes a call on a connection of its own.
func (x *world) send(c call) answer {
	return exchange(x.addr(), c.text(x.addr()), c.head, c.method)
}

func (x *world) write(path, text string) {
	x.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		x.t.Fatal(err)
	}
}

// mark is a text that is found wherever it gets to, and should get nowhere.
func (x *world) mark() string { return fmt.Sprintf("%s%d-", refusedMark, x.refused.Add(1)) }

// secrets are those that strangers must not be shown.
func secrets() []string {
	return []string{theToken, theKey, theInbound, theMembers, theWords, theFile}
}

// clean fails the test if an answer has a secret in it.
func clean(t *testing.T, what any, a answer, but ...string) {
	t.Helper()
	text := a.whole()
	for _, secret := range secrets() {
		if strings.Contains(text, secret) && !strings.Contains(strings.Join(but, " "), secret) {
			t.Errorf("%v: the answer has %s in it: %s", what, secret, a)
		}
	}
}

// serving fails the test if an answer is one of a program that is in trouble.
func serving(t *testing.T, what any, a answer) {
	t.Helper()
	switch {
	case a.err != nil && a.status == 0:
		t.Errorf("%v: no answer: %v", what, a.err)
	case a.status >= 500 && a.status != 501 && a.status != 503 && a.status != 505:
		t.Errorf("%v: %s", what, a)
	}
}

// unharmed looks at what must not have happened in all of the world, and that it goes on.
func (x *world) unharmed(t *testing.T) {
	t.Helper()
	if !x.probes {
		a := x.send(x.ours(message("alive-"+t.Name(), "say alive")))
		if a.status != 200 || !strings.Contains(a.body, "alive") {
			t.Errorf("it does not answer as before: %s", a)
		}
	}
	for _, request := range x.model.Requests() {
		if i := strings.Index(string(request.Body), refusedMark); i >= 0 {
			t.Errorf("the model was asked …%.100s", request.Body[i:])
		}
	}
	for _, root := range []string{x.Work, x.State, x.Home, x.configs} {
		x.unmarked(t, root)
	}
	x.quiet(t)
}

// quiet looks that the log has neither a secret in it nor a panic.
func (x *world) quiet(t *testing.T) {
	t.Helper()
	log := x.Log()
	for _, secret := range secrets() {
		if i := strings.Index(log, secret); i >= 0 {
			t.Errorf("the log has %s in it: …%.300s", secret, log[max(0, i-200):])
		}
	}
	for _, word := range []string{"panic", "goroutine "} {
		if i := strings.Index(log, word); i >= 0 {
			t.Errorf("the log has a panic in it: %.2000s", log[max(0, i-200):])
		}
	}
}

// unmarked fails the test if a file under root, or its name, has the mark of what was refused.
func (x *world) unmarked(t *testing.T, root string) {
	t.Helper()
	if root == "" {
		return
	}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it was removed meanwhile
		}
		if strings.Contains(entry.Name(), refusedMark) {
			t.Errorf("there is %s", path)
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		text, _ := os.ReadFile(path)
		if i := strings.Index(string(text), refusedMark); i >= 0 {
			t.Errorf("%s has it: …%.100q", path, text[i:])
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// atOnce calls f for each row, several at a time.
func atOnce[T any](rows []T, f func(T)) {
	var all sync.WaitGroup
	room := make(chan struct{}, 16)
	for _, row := range rows {
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			f(row)
		})
	}
	all.Wait()
}
