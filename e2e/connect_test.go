package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// A laptop is somebody's home: codex is installed and can reach a model, and so is the
// runtime, as molecule-runtime. Nothing else is set.
type laptop struct {
	t        *testing.T
	home     string
	model    *modeltest.Model
	platform *fakeplatform.Platform
	handle   *fakeplatform.Handle
}

func newLaptop(t *testing.T) *laptop {
	t.Helper()
	x := &laptop{t: t, home: codextest.Dir(t, "laptop"), model: modeltest.Start(t, fakemodel.Keywords), platform: fakeplatform.Start(t, fakeplatform.AUG)}
	x.handle = x.platform.Add(fakeplatform.Workspace{Name: "My Codex", Poll: true, Status: "awaiting_agent"})
	bin := filepath.Join(x.home, ".local/bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"molecule-runtime": binary, "codex": codextest.Bin(t)} {
		if err := os.Symlink(target, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(x.home, ".codex/config.toml"), "model_provider = \"fake\"\n[model_providers.fake]\nname = \"fake\"\nbase_url = \""+
		x.model.BaseURL()+"\"\nwire_api = \"responses\"\n")
	return x
}

// run starts a command in the home, until the test ends. Standard error is what it shows.
func (x *laptop) run(stdin string, env []string, name string, args ...string) (cmd *exec.Cmd, shown func() string) {
	x.t.Helper()
	cmd = exec.Command(name, args...)
	cmd.Dir, cmd.Stdin = x.home, strings.NewReader(stdin)
	cmd.Env = append([]string{"HOME=" + x.home, "PATH=" + filepath.Join(x.home, ".local/bin") + ":" + os.Getenv("PATH")}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var mu sync.Mutex
	var out bytes.Buffer
	both := writerFunc(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return out.Write(p)
	})
	cmd.Stdout, cmd.Stderr = both, both
	shown = func() string {
		mu.Lock()
		defer mu.Unlock()
		return out.String()
	}
	if err := cmd.Start(); err != nil {
		x.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	x.t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
		late := time.AfterFunc(progtest.Patience, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
		<-ended
		late.Stop()
		if x.t.Failed() {
			x.t.Logf("%s shows\n%s", name, shown())
		}
	})
	return cmd, shown
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// answers has the user talk to the workspace, twice.
func (x *laptop) answers() {
	x.t.Helper()
	for n, text := range []string{"remember teal-7", "recall"} {
		if _, err := x.handle.Say(x.t.Context(), text); err != nil {
			x.t.Fatal(err)
		}
		progtest.WaitFor(x.t, "the user to be answered", func() bool { return len(x.handle.Notices()) > n })
	}
	if told := x.handle.Notices(); !strings.Contains(told[1].Message, "teal-7") {
		x.t.Errorf("the user was told %v", told)
	}
	if status := x.handle.Status(); status != "online" {
		x.t.Errorf("the workspace is %s", status)
	}
}

// TestThreeVariables runs the channel with what the Connect dialog shows, and nothing else.
func TestThreeVariables(t *testing.T) {
	t.Parallel()
	x := newLaptop(t)
	x.run("", []string{"WORKSPACE_ID=" + x.handle.ID(), "PLATFORM_URL=" + x.platform.URL, "MOLECULE_WORKSPACE_TOKEN=" + x.handle.Token()}, binary, "channel")
	x.answers()
	if _, err := os.Stat(filepath.Join(x.home, ".codex-channel-molecule/state.db")); err != nil {
		t.Error(err)
	}
}

// TestConnectBlock pastes what runtime connect prints: the workspace is answered, and a
// codex that is not ours has its tools, and is not refused their calls.
func TestConnectBlock(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	x := newLaptop(t)
	printing := exec.CommandContext(t.Context(), binary, "connect", "--name", "My Codex")
	printing.Env = []string{"WORKSPACE_ID=" + x.handle.ID(), "PLATFORM_URL=" + x.platform.URL, "MOLECULE_WORKSPACE_TOKEN=" + x.handle.Token()}
	block, err := printing.Output()
	if err != nil {
		t.Fatal(err)
	}
	_, shown := x.run(string(block), nil, "bash", "--norc", "--noprofile")
	x.answers()
	if text := shown(); !strings.Contains(text, "connecting workspace "+x.handle.ID()) || strings.Contains(text, x.handle.Token()) {
		t.Errorf("it shows\n%s", text)
	}
	list := x.codex("mcp", "list", "--json")
	var servers []struct {
		Name      string
		Enabled   bool
		Transport struct{ Command string }
	}
	if err := json.Unmarshal(list, &servers); err != nil || len(servers) != 1 || servers[0].Name != "molecule-my-codex" || !servers[0].Enabled {
		t.Errorf("%v: %s", err, list)
	}
	if config, err := os.ReadFile(filepath.Join(x.home, ".codex/config.toml")); err != nil || strings.Contains(string(config), x.handle.Token()) {
		t.Errorf("the token stands in codex's configuration: %s, %v", config, err)
	}
	// The channel's own codex has the tools by another way, and does not start the server.
	if _, err := x.handle.Say(t.Context(), `call list_peers {}`); err != nil {
		t.Fatal(err)
	}
	progtest.WaitFor(t, "the tool to be called", func() bool { return len(x.handle.Notices()) > 2 })
	for _, pid := range progtest.Descendants(os.Getpid()) {
		if line, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline"); bytes.HasSuffix(line, []byte("molecule-runtime\x00mcp\x00")) {
			t.Errorf("process %d is an MCP server that nobody needs", pid)
		}
	}
	if configured, want := x.entry(), documented(t, x, filepath.Join(x.home, ".config/molecule-codex", x.handle.ID()+".token")); !sameEntry(configured, want) {
		t.Errorf("codex is configured with\n%s\nand the documents have\n%s", configured, want)
	}
	x.callsTool("mcp__molecule_my_codex")
}

// entry is the part of codex's configuration that is about the workspace's tools.
func (x *laptop) entry() string {
	x.t.Helper()
	config, err := os.ReadFile(filepath.Join(x.home, ".codex/config.toml"))
	if err != nil {
		x.t.Fatal(err)
	}
	_, entry, _ := strings.Cut(string(config), "[mcp_servers.")
	return "[mcp_servers." + entry
}

// sameEntry reports whether two tables of an MCP server say the same: but for the order,
// comments, the server's name and the program's place.
func sameEntry(a, b string) bool {
	lines := func(text string) (all []string) {
		for line := range strings.Lines(text) {
			line, _, _ = strings.Cut(line, "  #")
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "[") && !strings.HasPrefix(line, "command = ") {
				all = append(all, line)
			}
		}
		slices.Sort(all)
		return all
	}
	return slices.Equal(lines(a), lines(b))
}

func (x *laptop) codex(args ...string) []byte {
	x.t.Helper()
	cmd := exec.CommandContext(x.t.Context(), codextest.Bin(x.t), args...)
	cmd.Env, cmd.Dir = []string{"HOME=" + x.home, "PATH=" + os.Getenv("PATH")}, x.home
	out, err := cmd.Output()
	if err != nil {
		x.t.Fatalf("codex %v: %v: %s", args, err, out)
	}
	return out
}

// TestInteractiveCodexHasTheTools: a codex that is not ours calls a tool of the workspace
// by the server that the documents show.
func TestInteractiveCodexHasTheTools(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	x := newLaptop(t)
	token := filepath.Join(x.home, "token")
	writeFile(t, token, x.handle.Token())
	file := filepath.Join(x.home, ".codex/config.toml")
	config, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, file, string(config)+documented(t, x, token))
	x.callsTool("mcp__molecule")
}

// callsTool has codex exec, which refuses what it would have to ask about, call a tool of
// the workspace by one of its MCP servers.
func (x *laptop) callsTool(server string) {
	x.t.Helper()
	x.platform.Add(fakeplatform.Workspace{Name: "writer", Reply: func(string) string { return "ok" }})
	x.model.SetScript(func(m *fakemodel.Turn) {
		if outputs := m.NewToolOutputs(); len(outputs) > 0 {
			m.Say(outputs[0].Text)
			return
		}
		m.CallIn(server, "list_peers", "{}")
	})
	if out := x.codex("exec", "--skip-git-repo-check", "who is there?"); !strings.Contains(string(out), "- writer (ID: ") {
		x.t.Errorf("codex says %s", out)
	}
}

// TestEarlierCodexEntry: a codex with an entry of before the inbox, which does not say who has the messages, does not take
// them from the channel that may be started any time.
func TestEarlierCodexEntry(t *testing.T) {
	t.Parallel()
	x := newLaptop(t)
	token, file := filepath.Join(x.home, "token"), filepath.Join(x.home, ".codex/config.toml")
	writeFile(t, token, x.handle.Token())
	config, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, file, string(config)+strings.Replace(documented(t, x, token), `, "--inbox=beside"]`, `]`, 1))
	if _, err := x.handle.Say(t.Context(), "hello"); err != nil {
		t.Fatal(err)
	}
	x.model.SetScript(func(m *fakemodel.Turn) {
		if outputs := m.NewToolOutputs(); len(outputs) > 0 {
			m.Say(outputs[0].Text)
			return
		}
		m.CallIn("mcp__molecule", "wait_for_message", `{"timeout_secs":5}`)
	})
	if out := x.codex("exec", "--skip-git-repo-check", "wait"); !strings.Contains(string(out), "The MCP host is codex") {
		t.Errorf("codex says %s", out)
	}
	if n := len(x.platform.Requests("POST /registry/register")); n != 0 {
		t.Errorf("it has registered the workspace %d times", n)
	}
}

// documented is the configuration in the documents, with the values of a laptop.
func documented(t *testing.T, x *laptop, token string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(codextest.Root(t), "docs/connect.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, ok := strings.Cut(string(text), "```toml\n")
	block, _, closed := strings.Cut(block, "```")
	if !ok || !closed {
		t.Fatal("docs/connect.md shows no configuration")
	}
	return "\n" + strings.NewReplacer("/home/you/.local/bin/molecule-runtime", binary, "7d2f0c9e-35c1-4a52-9b1e-0f6f6a2f1c11", x.handle.ID(),
		"https://tenant.example", x.platform.URL, "/home/you/.config/molecule-codex/WORKSPACE_ID.token", token).Replace(block)
}
