package e2e

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// A diagnosis is what runtime doctor --json prints.
type diagnosis struct {
	For, Why string
	OK       bool
	Checks   []struct{ Name, Status, Detail string }
}

// of are the answers of the checks that have a name.
func (d diagnosis) of(name string) (all []string) {
	for _, c := range d.Checks {
		if c.Name == name {
			all = append(all, c.Status+" "+c.Detail)
		}
	}
	return all
}

// A clinic is a person's home with nothing in it but what codex needs, and a platform.
type clinic struct {
	t             *testing.T
	root          string
	platform      *fakeplatform.Platform
	first, second *fakeplatform.Handle
}

func newClinic(t *testing.T) *clinic {
	t.Helper()
	c := &clinic{t: t, root: codextest.Dir(t, "doctor"), platform: fakeplatform.Start(t, fakeplatform.AUG)}
	c.first = c.platform.Add(fakeplatform.Workspace{Name: "first", Poll: true})
	c.second = c.platform.Add(fakeplatform.Workspace{Name: "second", Poll: true})
	for _, dir := range []string{"home", "tmp", "work"} {
		if err := os.Mkdir(filepath.Join(c.root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// doctor runs it, and sees that nothing in the home, its folders and the temp directory is
// another than before.
func (c *clinic) doctor(args []string, env ...string) (d diagnosis, code int) {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), binary, append([]string{"doctor", "--json"}, args...)...)
	cmd.Env = c.env(env...)
	cmd.Dir = filepath.Join(c.root, "work")
	before := c.tree()
	out, err := cmd.Output()
	after := c.tree()
	for path, was := range before {
		if after[path] != was {
			c.t.Errorf("doctor %v: %s was %s and is %q", args, path, was, after[path])
		}
	}
	for path := range after {
		if before[path] == "" {
			c.t.Errorf("doctor %v leaves %s", args, path)
		}
	}
	if jsonErr := json.Unmarshal(out, &d); jsonErr != nil {
		c.t.Fatalf("doctor %v: %v, %v: %s", args, err, jsonErr, out)
	}
	return d, cmd.ProcessState.ExitCode()
}

// env is the environment of doctor.
func (c *clinic) env(more ...string) []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(c.root, "home"), "TMPDIR=" + filepath.Join(c.root, "tmp"),
		"CODEX_BIN=" + codextest.Bin(c.t), "RUNTIME_MODEL=scripted", "RUNTIME_URL=http://127.0.0.1:1",
	}, more...)
}

// tree is everything below the root: its kind, its mode and what is in it.
func (c *clinic) tree() map[string]string {
	c.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(c.root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			all[path] = info.Mode().String()
		}
		if err == nil && info.Mode().IsRegular() {
			var text []byte
			text, err = os.ReadFile(path)
			all[path] += fmt.Sprintf(" %x", sha256.Sum256(text))
		}
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return all
}

// dialog are the variables that the Connect dialog shows.
func (c *clinic) dialog() []string {
	return []string{"WORKSPACE_ID=" + c.first.ID(), "PLATFORM_URL=" + c.platform.URL, "MOLECULE_WORKSPACE_TOKEN=" + c.first.Token()}
}

// list is MOLECULE_WORKSPACES with two of them.
func (c *clinic) list(secondToken string) string {
	list, err := json.Marshal([]map[string]string{
		{"id": c.first.ID(), "token": c.first.Token(), "platform_url": c.platform.URL},
		{"id": c.second.ID(), "token": secondToken, "platform_url": c.platform.URL},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return "MOLECULE_WORKSPACES=" + string(list)
}

// TestDoctorOfAChannel runs it with the three variables of the Connect dialog, in a home
// with nothing in it: what is looked at is the channel's.
func TestDoctorOfAChannel(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	d, code := c.doctor(nil, c.dialog()...)
	if d.For != "channel" || !strings.Contains(d.Why, "Connect dialog") || !d.OK || code != 0 {
		t.Errorf("exit %d: %+v", code, d)
	}
	home := filepath.Join(c.root, "home")
	for name, want := range map[string]string{
		"codex home":      "ok " + filepath.Join(home, ".codex") + ", which the start makes",
		"state directory": "ok " + filepath.Join(home, ".codex-channel-molecule") + ", which the start makes",
		"platform":        "ok " + c.platform.URL + ` has the workspace as "provisioning"`,
		"sandbox":         "ok workspace-write, and a command ran in it",
		"tools (dynamic)": "ok 18 tools, in use",
		"clock":           "ok it goes",
		"clock skew":      "ok as the platform (" + strings.TrimPrefix(c.platform.URL, "http://") + ") has it",
	} {
		if got := d.of(name); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"port", "configuration", "tools (mcp)"} {
		if got := d.of(name); len(got) > 0 {
			t.Errorf("a channel has nothing of %s: %q", name, got)
		}
	}
	if d, _ := c.doctor(nil, append(c.dialog(), "RUNTIME_ADDR=127.0.0.1:0")...); len(d.of("port")) != 1 {
		t.Errorf("a channel that listens needs a port: %+v", d)
	}
}

// TestDoctorWithFilesOfTheConfiguration has a configuration that names files beside it, as
// codex takes them: where the runtime would run, doctor says so.
func TestDoctorWithFilesOfTheConfiguration(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	writeFile(t, filepath.Join(c.root, "home/.codex/config.toml"), `
model_instructions_file = "texts/kind.md"
experimental_compact_prompt_file = './short.md'
`)
	writeFile(t, filepath.Join(c.root, "home/.codex/texts/kind.md"), "Be kind.")
	writeFile(t, filepath.Join(c.root, "home/.codex/short.md"), "Be short.")
	if d, code := c.doctor(nil, c.dialog()...); code != 0 {
		t.Errorf("exit %d: %+v", code, d)
	}
}

// TestDoctorShowsWhatOthersHaveWritten has a configuration that commands may own: what
// doctor quotes of it does nothing to the terminal, in either form, and makes no line.
func TestDoctorShowsWhatOthersHaveWritten(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	writeFile(t, filepath.Join(c.root, "home/.codex/config.toml"), "a = 1\nb = \x1b]0;owned\x07\x1b[2J\u009b31m\u202e\u200b[\rowned\n")
	for _, form := range [][]string{nil, {"--json"}} {
		cmd := exec.CommandContext(t.Context(), binary, append([]string{"doctor", "--for=serve"}, form...)...)
		cmd.Env = c.env()
		cmd.Dir = filepath.Join(c.root, "work")
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "owned") {
			t.Errorf("doctor %v quotes nothing, %v: %q", form, err, out)
		}
		if plain := brief.Plain(string(out)); plain != string(out) || strings.Contains(string(out), "\nowned") {
			t.Errorf("doctor %v prints %q", form, out)
		}
	}
}

// TestDoctorAsksEveryPlatform has two workspaces, one of them with a token that is none.
func TestDoctorAsksEveryPlatform(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	d, code := c.doctor(nil, c.list("geheim"))
	got := d.of("platform")
	if d.For != "channel" || code != 0 || len(got) != 2 || !strings.HasPrefix(got[0], "ok "+c.first.ID()+": ") ||
		!strings.HasPrefix(got[1], "warn "+c.second.ID()+": it does not take the workspace's token") {
		t.Errorf("exit %d, %s: %q", code, d.For, got)
	}
}

// TestDoctorForEachWay is told which it is asked about, against what would be guessed, in
// a home where codex has been used before.
func TestDoctorForEachWay(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	c := newClinic(t)
	writeFile(t, filepath.Join(c.root, "home/.codex/config.toml"), "model = \"m\"\n")
	writeFile(t, filepath.Join(c.root, "home/.codex/auth.json"), `{"OPENAI_API_KEY":"sk-planted"}`)
	writeFile(t, filepath.Join(c.root, "home/.molecule-workspace/config.yaml"), "name: Ada\n")
	for _, way := range []struct {
		name       string
		env        []string
		has, lacks string
	}{
		{"serve", append(c.dialog(), "RUNTIME_ADDR=127.0.0.1:0"), "port", "runtime"},
		{"channel", c.dialog(), "sandbox", "port"},
		{"mcp", c.dialog(), "runtime", "sandbox"},
		{"mcp", nil, "tools (mcp)", "platform"},
	} {
		d, code := c.doctor([]string{"--for", way.name}, way.env...)
		if d.For != way.name || d.Why != "" || code != 0 || len(d.of(way.has)) != 1 || len(d.of(way.lacks)) != 0 {
			t.Errorf("%s: exit %d: %+v", way.name, code, d)
		}
	}
	if d, code := c.doctor([]string{"--for", "serve"}, "RUNTIME_ADDR=127.0.0.1:0"); code != 0 || len(d.of("platform")) != 0 {
		t.Errorf("standing alone: exit %d: %+v", code, d)
	}
}
