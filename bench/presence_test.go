package bench

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// BenchmarkPresence is what it costs to be a workspace of a platform, against the same
// program standing alone, each with a real codex, both on one model: what a turn takes
// longer, without a tool and with one, the CPU time that our process uses more for a
// turn, and what it uses in a minute in which nothing happens. Without workspace tools,
// and with the same AGENTS.md, both codexes read the same but for 400 bytes.
func BenchmarkPresence(b *testing.B) {
	const turns, toolTurns, warm = 500, 60, 10
	model := modeltest.Start(b, fakemodel.Keywords)
	credential := []string{"OPENAI_API_KEY=key-of-the-benchmark", "OPENAI_BASE_URL=" + model.BaseURL()}
	platform := fakeplatform.Start(b, fakeplatform.AUG)
	member := newMember(b, platform, append(credential, "RUNTIME_TOOLS=off"))
	alone := progtest.Start(b, program, credential...)
	sameFiles(b, member.Work, alone.Work)
	ours, other := newClient(b, member.URL, "bench", 0), newClient(b, alone.URL, "bench", 0)
	ours.ready()
	other.ready()
	for range warm {
		ours.send("say warm", "warm")
		other.send("say warm", "warm")
	}
	took := series{}
	used := func(p *progtest.Program, from time.Duration) float64 {
		return ms(progtest.CPU(b, p.Pid())-from) / turns
	}
	cpu, otherCPU := progtest.CPU(b, member.Pid()), progtest.CPU(b, alone.Pid())
	both := func(suffix, text, want string) {
		shuffled(
			func() { took.add("alone"+suffix, other.send(text, want)) },
			func() { took.add("workspace"+suffix, ours.send(text, want)) })
	}
	for range turns {
		both("", "say hello", "hello")
	}
	row(b, "turn-cpu", "added-ms", used(member, cpu)-used(alone, otherCPU))
	for range toolTurns {
		both("-tool", "run echo done", "done")
	}
	took.report(b, "alone", "workspace", "alone-tool", "workspace-tool")
	added(b, "added-turn", took["workspace"], took["alone"], took["alone"])
	added(b, "added-tool-turn", took["workspace-tool"], took["alone-tool"], took["alone-tool"])
	progtest.WaitFor(b, "a row of activity for each tool", func() bool {
		return len(platform.Requests("POST /workspaces/*/activity")) >= toolTurns
	})
	idle(b, platform, member, alone)
}

// idle reports what the two programs use while nothing happens.
func idle(b *testing.B, platform *fakeplatform.Platform, member, alone *progtest.Program) {
	b.Helper()
	const window = 64 * time.Second // two heartbeats, a look at the state, two at delegations
	progtest.WaitFor(b, "the rows of the last turns", func() bool {
		requests := platform.Requests()
		return time.Since(requests[len(requests)-1].At) > 3*time.Second
	})
	beats := len(platform.Requests("POST /registry/heartbeat"))
	began, ours, other := time.Now(), progtest.CPU(b, member.Pid()), progtest.CPU(b, alone.Pid())
	time.Sleep(window)
	share := func(used time.Duration) float64 { return 100 * float64(used) / float64(time.Since(began)) }
	row(b, "idle",
		"workspace-%", share(progtest.CPU(b, member.Pid())-ours),
		"alone-%", share(progtest.CPU(b, alone.Pid())-other))
	if n := len(platform.Requests("POST /registry/heartbeat")) - beats; n < 2 {
		b.Fatalf("%d heartbeats in %s", n, window)
	}
}

// newMember starts the program as a workspace and waits until it is online.
func newMember(b *testing.B, platform *fakeplatform.Platform, settings []string) *progtest.Program {
	b.Helper()
	me := platform.Add(fakeplatform.Workspace{Name: "bench"})
	configs := codextest.Dir(b, "configs")
	if err := os.WriteFile(filepath.Join(configs, ".auth_token"), []byte(me.Token()), 0o600); err != nil {
		b.Fatal(err)
	}
	p := progtest.Start(b, program, append([]string{
		"WORKSPACE_ID=" + me.ID(), "PLATFORM_URL=" + platform.URL, "CONFIGS_DIR=" + configs, "MOLECULE_WORKSPACE_URL=http://localhost:1",
	}, settings...)...)
	progtest.WaitFor(b, "the workspace to be online", func() bool { return me.Status() == "online" && len(me.Beats()) > 0 })
	return p
}

// sameFiles has another codex read what the workspace's reads.
func sameFiles(b *testing.B, from, to string) {
	b.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		b.Fatal(err)
	}
}
