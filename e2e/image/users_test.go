package image

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// runtimeUser is who the program runs as in an image that is started as root.
const runtimeUser = 990

// keeper is who keeps the state in the container.
func (c *container) keeper() int {
	if c.spec.user != "root" {
		return 1000
	}
	return runtimeUser
}

// ownerIn is who a file of the configuration belongs to.
func (c *container) ownerIn(path string) int {
	name, err := filepath.Rel(c.spec.configs, path)
	if err != nil {
		c.t.Fatal(err)
	}
	switch top, _, _ := strings.Cut(name, "/"); top {
	case ".", ".runtime", ".auth_token", ".platform_inbound_secret", ".initial_prompt_done", "config.yaml":
		return c.keeper()
	}
	return 1000
}

// rpc calls a container that stands alone.
func (c *container) rpc(method string, params any) string {
	c.t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		c.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, "http://127.0.0.1:8000/", bytes.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer token-of-the-image-test")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	var answer bytes.Buffer
	if _, err := answer.ReadFrom(response.Body); err != nil {
		c.t.Fatal(err)
	}
	return answer.String()
}

type object = map[string]any

// look tries to read all that no command may, and spoil to change it; they say what they got.
const look = "echo looking; for f in /configs/.runtime/state.db /configs/.auth_token /configs/.platform_inbound_secret; do cat $f >/dev/null 2>&1 && echo stolen $f; done; " +
	"for p in /proc/[0-9]*; do if grep -q '^Uid:.990' $p/status 2>/dev/null; then echo seen; for f in $p/environ $p/maps $p/mem $p/task/*/environ; do (exec <$f) 2>/dev/null && echo stolen $f; done; kill -0 ${p#/proc/} 2>/dev/null && echo stolen $p; fi; done; "

const spoil = "mv /configs/.runtime /configs/x 2>/dev/null && echo stolen the folder; echo x 2>/dev/null >>/configs/config.yaml && echo stolen the configuration; "

// pid is that of a process of the container whose command line begins like that; 0 if there
// is none.
func (c *container) pid(command ...string) int {
	for _, pid := range progtest.Descendants(c.cmd.Process.Pid) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // of one that has ended there is none
		if bytes.HasPrefix(line, []byte(strings.Join(command, "\x00")+"\x00")) {
			return pid
		}
	}
	return 0
}

// apart is a container without a sandbox whose volumes are those of an image in which all was
// the agent's.
func apart(t *testing.T, env ...string) *container {
	t.Helper()
	configs := volume(t, "configs", 1000)
	for _, name := range []string{".auth_token", ".platform_inbound_secret"} {
		write(t, filepath.Join(configs, name), "token-of-the-platform", 1000)
	}
	for _, dir := range []string{".runtime", ".codex", "notes"} {
		if err := errors.Join(os.Mkdir(filepath.Join(configs, dir), 0o700), os.Chown(filepath.Join(configs, dir), 1000, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(configs, "notes", "mine"), "of the agent", 1000)
	c := open(t).run(t, spec{
		tier: 2, user: "root", configs: configs, workspace: volume(t, "workspace", 0),
		env: append(append([]string{"CODEX_SANDBOX=danger-full-access", "CODEX_APPROVAL_POLICY=never"}, standalone...), env...),
	})
	c.listens()
	return c
}

// TestTwoUsers has commands read and change nothing that is the runtime's, and work on what
// is theirs: the work directory, files of messages, those that an older image has left.
func TestTwoUsers(t *testing.T) {
	c := apart(t)
	said := c.ask("one", "run id -u; "+look+spoil+"cat /configs/notes/mine && echo and more >>/configs/notes/mine; echo $((40+2)) done")
	if !strings.Contains(said, "1000\\nlooking\\nseen\\n") || !strings.Contains(said, "of the agent42 done") || !strings.Contains(said, "42 done") || strings.Contains(said, "\\nstolen") {
		t.Errorf("the command says: %s", said)
	}
	c.rpc("SendMessage", object{"message": object{"messageId": "m2", "contextId": "two", "role": "ROLE_USER", "parts": []object{
		{"text": "run cd /workspace/.molecule/chat-uploads && echo more >>$(ls | grep brought) && cp $(ls | grep brought) /workspace/out.txt && chmod 600 /workspace/out.txt"},
		{"raw": base64.StdEncoding.EncodeToString([]byte("what was brought, and ")), "filename": "brought.txt"},
	}}})
	if said := c.ask("two", "say it is in `/workspace/out.txt`"); !strings.Contains(said, base64.StdEncoding.EncodeToString([]byte("what was brought, and more\n"))) {
		t.Errorf("the files of messages: %s", said)
	}
	if out, err := c.exec("runtime", "doctor"); err != nil || !strings.Contains(out, "who cannot read the runtime's state and tokens") {
		t.Errorf("doctor: %v\n%s", err, out)
	}
}

// TestWhatIsTheAgents has others run what its commands have written: they do not, by git or by codex,
// which is the agent's for root, too.
func TestWhatIsTheAgents(t *testing.T) {
	c := apart(t)
	for _, row := range []struct {
		user, command, says string
		works               bool
	}{
		{"1000", "git init -q /workspace/made && git -C /workspace/made status", "On branch", true},
		{"root", "git -C /workspace/made status", "dubious ownership", false},
		{"root", "git config --get-all safe.directory", "", false},
		{"1000", "codex --version", "codex-cli", true},
		{"root", "codex --version", "codex-cli", true},
		{"990", "codex --version", "docker exec -it", false},
	} {
		home := map[string]string{"1000": "/home/agent"}[row.user]
		out, err := c.enter(row.user, "sh", "-c", "export HOME="+home+"; "+row.command).CombinedOutput()
		if (err == nil) != row.works || !strings.Contains(string(out), row.says) {
			t.Errorf("%s by user %s: %v, %s", row.command, row.user, err, out)
		}
	}
	// What the host has lent is as the agent's own to its commands, whatever they have left for a start.
	if out, err := c.enter("root", "git", "init", "-q", "/workspace/lent").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if said := c.ask("one", "run git -C /workspace/lent status; mkfifo HEAD; echo left"); !strings.Contains(said, "No commits yet") || !strings.Contains(said, "left") {
		t.Errorf("a command says %s", said)
	}
	c.kill()
	open(t).run(t, c.spec).listens()
}

// TestPromptsOfTwoUsers has prompts that root has brought reach the model, whatever their modes,
// and nothing of the runtime's by links that commands put in their place, or have left among
// the secrets.
func TestPromptsOfTwoUsers(t *testing.T) {
	p := newPlace(t, 2, "root")
	for _, dir := range []string{"prompts", "secrets.d"} {
		if err := os.Mkdir(filepath.Join(p.spec.configs, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.put("config.yaml", "name: Ada\nprompt_files: [system-prompt.md, prompts/main.md]\n", 0o600)
	p.put("system-prompt.md", "PERSONA-of-the-top", 0o600)
	p.put("prompts/main.md", "PERSONA-of-a-folder", 0o640)
	p.put("secrets.d/GIVEN", "value-of-given", 0o600)
	p.put(".auth_token", "", 0o600)
	if err := errors.Join(os.Symlink("../.auth_token", filepath.Join(p.spec.configs, "secrets.d", "LINKED")),
		os.Link(filepath.Join(p.spec.configs, ".auth_token"), filepath.Join(p.spec.configs, "secrets.d", "HARD"))); err != nil {
		t.Fatal(err)
	}
	c := p.provision()
	tokens := []string{p.handle.Token()}
	p.say("run cd /configs; cat .auth_token secrets.d/HARD 2>/dev/null; echo $GIVEN, ${LINKED:-nothing}, ${HARD:-nothing}; ln -sf ../.auth_token prompts/main.md && echo made $((1+1))",
		"value-of-given, nothing, nothing\\nmade 2")
	asked := p.asked()
	if !strings.Contains(asked, "PERSONA-of-the-top") || !strings.Contains(asked, "PERSONA-of-a-folder") {
		t.Errorf("the model reads %s", asked)
	}
	c.kill()
	p.provision()
	p.say("say two", "two")
	for _, token := range append(tokens, p.handle.Token()) {
		if strings.Contains(p.asked(), token) {
			t.Errorf("the model reads the token %s", token)
		}
	}
}

// asked is all that the model was.
func (p *place) asked() string {
	var all strings.Builder
	for _, r := range p.model.Requests() {
		all.Write(r.Body)
	}
	return all.String()
}

// TestOneUserFindsNoSecrets: where all is one user's and commands have no sandbox, no process
// shows them the environment that the container was started with, the first one neither.
func TestOneUserFindsNoSecrets(t *testing.T) {
	c := open(t).run(t, spec{
		tier: 2, user: "1000", configs: volume(t, "configs", 1000), workspace: volume(t, "workspace", 1000),
		env: append([]string{"CODEX_SANDBOX=danger-full-access", "CODEX_APPROVAL_POLICY=never"}, standalone...),
	})
	c.listens()
	said := c.ask("one", "run echo looking; for p in /proc/[0-9]*; do grep -qs token-of-the-image-test $p/environ && echo stolen $p; done; echo $((40+2)) done")
	if !strings.Contains(said, "looking\\n42 done") {
		t.Errorf("the command says: %s", said)
	}
}

// TestTwoUsersEnd has commands end with their turn, and codex with the runtime.
func TestTwoUsersEnd(t *testing.T) {
	c := apart(t)
	answer := c.rpc("SendMessage", object{
		"message":       object{"messageId": "m1", "contextId": "one", "role": "ROLE_USER", "parts": []object{{"text": "run setsid sleep 83.5 & sleep 84.5"}}},
		"configuration": object{"returnImmediately": true},
	})
	var accepted struct {
		Result struct{ Task struct{ ID string } }
	}
	if err := json.Unmarshal([]byte(answer), &accepted); err != nil {
		t.Fatal(err)
	}
	progtest.WaitFor(t, "the commands to run", func() bool { return c.pid("sleep", "83.5") != 0 && c.pid("sleep", "84.5") != 0 })
	if said := c.rpc("CancelTask", object{"id": accepted.Result.Task.ID}); !strings.Contains(said, "TASK_STATE_CANCELED") || c.pid("sleep", "83.5") != 0 || c.pid("sleep", "84.5") != 0 {
		t.Errorf("after the cancel, with %d and %d still there: %s", c.pid("sleep", "83.5"), c.pid("sleep", "84.5"), said)
	}
	codex, program := c.pid("/opt/codex/bin/codex", "app-server"), c.pid("/usr/local/bin/molecule-runtime", "serve")
	if codex == 0 || program == 0 {
		t.Fatalf("codex is %d, the program %d", codex, program)
	}
	if err := syscall.Kill(program, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	progtest.WaitFor(t, "codex to end", func() bool { return !progtest.Alive(codex) })
}

// TestOneUser is for those who ask for it: all is the agent's again, also what two users
// had before.
func TestOneUser(t *testing.T) {
	c := apart(t)
	c.ask("one", "remember the word is quince")
	c.kill()
	s := c.spec
	for _, env := range []string{"CODEX_USER=", ""} { // and back
		s.env = append(slices.Clip(s.env), env)
		if env == "" {
			s.env = c.spec.env
		}
		again := open(t).run(t, s)
		again.listens()
		if said := again.ask("one", "recall\n(with "+env+")"); !strings.Contains(said, "quince") {
			t.Errorf("with %q: %s", env, said)
		}
		if said := again.ask("two", "run "+look+"echo done with "+strings.ToLower(env)); strings.Contains(said, "\\nstolen") != (env != "") {
			t.Errorf("with %q a command says: %s", env, said)
		}
		want := map[string]int{"CODEX_USER=": 1000, "": runtimeUser}[env]
		if got := ownerOf(t, filepath.Join(s.configs, ".auth_token")); got != want {
			t.Errorf("with %q the token belongs to %d", env, got)
		}
		again.kill()
	}
}
