package image

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

const secret = "sk-value-of-a-secret\nMIDDLE=line-of-a-secret"

// A place is a workspace of the platform, with its volumes.
type place struct {
	t        *testing.T
	image    *image
	model    *modeltest.Model
	platform *fakeplatform.Platform
	handle   *fakeplatform.Handle
	spec     spec
}

func newPlace(t *testing.T, tier int, user string) *place {
	t.Helper()
	p := &place{t: t, image: open(t), model: modeltest.Start(t, fakemodel.Keywords), platform: fakeplatform.Start(t, fakeplatform.AUG)}
	p.handle = p.platform.Add(fakeplatform.Workspace{Name: "Ada"})
	owner := 0
	if user != "root" {
		owner = 1000 // as fsGroup and init containers have it
	}
	p.spec = spec{tier: tier, user: user, configs: volume(t, "configs", owner), workspace: "-", env: []string{
		"WORKSPACE_ID=" + p.handle.ID(), "WORKSPACE_CONFIG_PATH=/configs", "PLATFORM_URL=" + p.platform.URL, "MOLECULE_URL=" + p.platform.URL,
		fmt.Sprint("TIER=", tier), "PLUGINS_DIR=/plugins", "PYTHONPATH=/app", "MOLECULE_WORKSPACE_URL=http://localhost:8000",
		"MODEL=gpt-5.5", "OPENAI_BASE_URL=" + p.model.BaseURL(), "OPENAI_API_KEY=key-of-the-image-test", "MULTI=" + secret,
	}}
	if tier > 1 {
		p.spec.workspace = volume(t, "workspace", owner)
	}
	p.put("config.yaml", "name: Ada\nruntime: codex\nversion: 1.0.0\nruntime_config:\n  timeout: 0\n", 0o644)
	return p
}

// put writes a file as the platform does: root's, unless nobody would give it to the agent.
func (p *place) put(name, text string, mode fs.FileMode) {
	p.t.Helper()
	path := filepath.Join(p.spec.configs, name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		p.t.Fatal(err)
	}
	owner := 0
	if p.spec.user != "root" {
		owner = 1000
	}
	if err := os.Chown(path, owner, owner); err != nil {
		p.t.Fatal(err)
	}
}

// provision starts a container as the platform does, with a new token, and waits until
// messages reach it.
func (p *place) provision() *container {
	p.t.Helper()
	p.put(".auth_token", p.handle.Rotate(), 0o600)
	p.handle.SetStatus("provisioning")
	c := p.image.run(p.t, p.spec)
	progtest.WaitFor(p.t, "the workspace to be online", func() bool {
		select {
		case <-c.exited:
			p.t.Fatal("the container has ended")
		default:
		}
		return p.handle.Status() == "online" && p.handle.URL() != ""
	})
	return c
}

func (p *place) say(text, want string) {
	p.t.Helper()
	reply, err := p.handle.Say(p.t.Context(), text)
	if err != nil || reply.Status != 200 || !strings.Contains(string(reply.Body), want) {
		p.t.Errorf("%s: %d %s, %v; want %q in it", text, reply.Status, reply.Body, err, want)
	}
}

// TestWorkspace starts a workspace on empty volumes, kills it, and starts it again on
// them, as every tier and user that platforms have.
func TestWorkspace(t *testing.T) {
	for _, tier := range []int{1, 2} {
		for _, user := range []string{"root", "1000"} {
			t.Run(fmt.Sprintf("tier-%d-as-%s", tier, user), func(t *testing.T) {
				if testing.Short() && (tier != 2 || user == "root") {
					t.Skip("the short form tries one")
				}
				p := newPlace(t, tier, user)
				first := p.provision()
				p.say("remember the word is quince", "")
				p.say("run id -u; id -un; touch ~/mine here && echo made $((1+1))", "1000\\nagent\\nmade 2")
				p.say("run pwd && ls", "here")
				if used := first.resident(); used > 400 {
					t.Errorf("the container uses %d MiB: tier 2 has 512", used)
				} else {
					t.Logf("the container uses %d MiB", used)
				}
				p.examine(first)
				first.kill()

				second := p.provision()
				p.say("recall", "quince")
				p.say("run ls", "here")
				p.healthy(second)
			})
		}
	}
}

// TestReadOnly has nothing that can be written but /configs.
func TestReadOnly(t *testing.T) {
	p := newPlace(t, 0, "1000")
	work := volume(t, "workspace", 1000)
	if err := os.WriteFile(filepath.Join(work, "theirs"), []byte("to be read"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(filepath.Join(work, "theirs"), 1000, 1000); err != nil {
		t.Fatal(err)
	}
	p.spec.workspace = work + ":ro"
	c := p.provision()
	p.say("run pwd; cat /workspace/theirs; echo in $(mktemp)", "in /configs/.tmp/")
	p.say("run pwd; cat /workspace/theirs", "/configs/workspace\\nto be read")
	p.healthy(c)
}

// examine looks at what start.sh has done.
func (p *place) examine(c *container) {
	p.t.Helper()
	said := c.said()
	if !strings.Contains(said, fmt.Sprintf(`"msg":"starting","uid":"%d"`, c.keeper())) || !strings.Contains(said, " OPENAI_API_KEY ") {
		p.t.Error("start.sh does not say what it starts with")
	}
	for _, shown := range []string{"key-of-the-image-test", "value-of-a-secret", "line-of-a-secret", "MIDDLE", p.handle.Token()} {
		if strings.Contains(said, shown) {
			p.t.Errorf("the log has %q in it", shown)
		}
	}
	err := filepath.WalkDir(p.spec.configs, func(path string, _ fs.DirEntry, err error) error {
		var stat syscall.Stat_t
		if err == nil {
			err = syscall.Lstat(path, &stat)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist): // codex has taken it away by now
			return nil
		case err == nil && int(stat.Uid) != c.ownerIn(path):
			p.t.Errorf("%s belongs to %d", path, stat.Uid)
		}
		return err
	})
	if err != nil {
		p.t.Error(err)
	}
	// The platform looks into containers with these.
	out, err := c.exec("sh", "-c", "cat /configs/config.yaml >/dev/null && mkdir -p /configs/x/y && tar -C /configs -cf - config.yaml | tar -C /configs/x -xf - && "+
		"find /configs/x -name config.yaml && ls /configs/x && rm -rf -- /configs/x && bash -c 'git --version'")
	if err != nil || !strings.Contains(out, "git version") {
		p.t.Errorf("the platform's commands: %v\n%s", err, out)
	}
}

// healthy asks doctor, with a credential and without.
func (p *place) healthy(c *container) {
	p.t.Helper()
	if out, err := c.exec("runtime", "doctor"); err != nil {
		p.t.Errorf("doctor: %v\n%s", err, out)
	}
	out, err := c.exec("env", "-u", "OPENAI_API_KEY", "-u", "OPENAI_BASE_URL", "runtime", "doctor", "--json")
	var failing []string
	for _, found := range regexp.MustCompile(`"name": "([a-z ]+)",\s+"status": "fail"`).FindAllStringSubmatch(out, -1) {
		failing = append(failing, found[1])
	}
	if err == nil || !slices.Equal(failing, []string{"credential", "account"}) { // codex has no account without one
		p.t.Errorf("doctor without a credential finds %v: %v\n%s", failing, err, out)
	}
}

// TestStandingAlone is docker run without a platform.
func TestStandingAlone(t *testing.T) {
	im := open(t)
	s := spec{tier: 2, user: "root", configs: volume(t, "configs", 0), workspace: "-"}
	c := im.run(t, s)
	if code := c.ended(); code == 0 || !strings.Contains(c.said(), "RUNTIME_TOKEN") {
		t.Errorf("without a token: %d", code)
	}
	s.env = []string{"RUNTIME_TOKEN=token-of-the-image-test", "RUNTIME_MODEL=scripted"}
	c = im.run(t, s)
	progtest.WaitFor(t, "the runtime to listen", func() bool { return strings.Contains(c.said(), `"msg":"listening"`) })
	if out, err := c.exec("runtime", "doctor"); err != nil {
		t.Errorf("doctor: %v\n%s", err, out)
	}
	if out, err := c.exec("runtime", "task", "start", "--watch", "say hello"); err != nil || !strings.Contains(out, "hello") {
		t.Errorf("a task: %v\n%s", err, out)
	}
	if code := c.stop(); code != 0 {
		t.Errorf("SIGTERM: exit code %d", code)
	}
}

// TestLook is about what is in the image, and what is not.
func TestLook(t *testing.T) {
	im := open(t)
	runtime := im.Layers[len(im.Layers)-1].Size
	t.Logf("the runtime's layer has %.1f MB", float64(runtime)/1e6)
	if runtime > 40e6 {
		t.Error("that is more than 40")
	}
	for _, step := range im.History {
		if regexp.MustCompile(`(?i)(token|key|secret|password)=`).MatchString(step.CreatedBy) {
			t.Errorf("the history has a secret in it: %s", step.CreatedBy)
		}
	}
	for _, stray := range []string{"src", "go", "codex", "out", "root/.npm", "root/.cache"} {
		if _, err := os.Lstat(filepath.Join(im.Root, stray)); err == nil {
			t.Errorf("the image has /%s", stray)
		}
	}
}

// TestAskpass has git's questions answered.
func TestAskpass(t *testing.T) {
	im := open(t)
	s := spec{tier: 1, user: "1000", configs: volume(t, "configs", 1000), workspace: "-", env: []string{
		"RUNTIME_TOKEN=token-of-the-image-test", "RUNTIME_MODEL=scripted", "GIT_HTTP_USERNAME=ada", "GITEA_TOKEN=token-of-gitea", "GIT_HTTP_HOST=git.example.com",
	}}
	c := im.run(t, s)
	progtest.WaitFor(t, "the runtime to listen", func() bool { return strings.Contains(c.said(), `"msg":"listening"`) })
	for question, want := range map[string]string{
		"Username for 'https://git.example.com': ":              "ada\n",
		"Password for 'https://ada@git.example.com': ":          "token-of-gitea\n",
		"Password for 'https://ada@example.org': ":              "",
		"Password for 'https://git.example.com/@example.org': ": "",
		"Password for 'https://example.org/@git.example.com': ": "",

		"Are you sure?": "",
	} {
		if got, err := c.exec("molecule-askpass", question); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v; want %q", question, got, err, want)
		}
	}
}
