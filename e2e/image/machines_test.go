package image

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// A service is one of a compose file, as far as it is needed here.
type service struct {
	Environment  map[string]string
	Entrypoint   []string
	Command      []string
	Capabilities []string `yaml:"cap_add"`
}

var standsIn = regexp.MustCompile(`\$\{[A-Z_]+:-([^}]*)\}`)

// services are those of deploy/compose.machines.yaml, with nothing in the environment.
func services(t *testing.T) map[string]service {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(codextest.Root(t), "deploy", "compose.machines.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Services map[string]service }
	if err := yaml.Unmarshal(standsIn.ReplaceAll(text, []byte("$1")), &file); err != nil {
		t.Fatal(err)
	}
	return file.Services
}

// as is a container of a service.
func (s service) as(base spec, mounts map[string]string) spec {
	base.tier, base.user = 1, "root"
	base.bare, base.args = s.Entrypoint != nil, slices.Concat(s.Entrypoint, s.Command)
	if len(base.args) == 0 {
		base.args = nil
	}
	for name, value := range s.Environment {
		base.env = append(base.env, name+"="+value)
	}
	for to, from := range mounts {
		base.mounts += from + ":" + to + "\n"
	}
	var may []string
	for _, name := range s.Capabilities {
		may = append(may, "+"+strings.ToLower(name))
	}
	if len(may) > 0 {
		base.may = strings.Join(may, ",")
	}
	return base
}

// TestMachines is deploy/compose.machines.yaml: what machines are known by is made once, a machine takes turns with no more
// rights than it has there, its commands read neither token nor key, and it ends when it is told to.
func TestMachines(t *testing.T) {
	im, all := open(t), services(t)
	work, machines, joins := volume(t, "workspace", 0), volume(t, "machines", 0), volume(t, "joins", 0)
	var token []byte
	for range 2 {
		c := im.run(t, all["identity"].as(spec{configs: "-", workspace: "-"}, map[string]string{"/machines": machines, "/joins": joins}))
		if code := c.ended(); code != 0 {
			t.Fatalf("exit code %d", code)
		}
		made, err := os.ReadFile(filepath.Join(joins, "token"))
		if err != nil || len(made) == 0 || token != nil && string(made) != string(token) {
			t.Fatalf("the token is %q, and was %q: %v", made, token, err)
		}
		token = made
	}
	if _, err := os.Stat(filepath.Join(joins, "key.pem")); !os.IsNotExist(err) {
		t.Errorf("runtimes have the key of the machines: %v", err)
	}
	m := im.run(t, all["machine"].as(spec{configs: volume(t, "machine", 0), workspace: work}, map[string]string{"/machines": machines}))
	m.listens()
	s := asCompose(t, volume(t, "configs", 0))
	s.workspace = work
	c := im.run(t, all["workspace"].as(s, map[string]string{"/joins": joins}))
	c.listens()
	said := c.ask("one", "run id -u; cat /machines/key.pem /machines/token 2>/dev/null && echo stolen; ls -d /joins 2>/dev/null; touch made; echo for $MOLECULE_MACHINE_RUNTIME is $((40+2)) done")
	if !strings.Contains(said, "1000\\nfor ") || !strings.Contains(said, " is 42 done") || strings.Contains(said, "for  is") || strings.Contains(said, "stolen\\n") || strings.Contains(said, "/joins\\n") {
		t.Error(said)
	}
	if !strings.Contains(said, `"machine":"ws-container"`) {
		t.Errorf("it does not say where it has run: %s", said)
	}
	if got := ownerOf(t, filepath.Join(work, "made")); got != 1000 {
		t.Errorf("the file is user %d's", got)
	}
	if code := m.stop(); code != 0 {
		t.Errorf("SIGTERM: exit code %d", code)
	}
	if !strings.Contains(m.said(), "this machine drains, and then ends") {
		t.Error("it does not drain")
	}
}
