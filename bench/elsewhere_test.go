package bench

import (
	"bufio"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// fleetToken is the token of all machines.
const fleetToken = "correct-horse-battery-staple"

var joinLine = regexp.MustCompile(`"machine":"https://([^"#]+)(#[^"]+)"`)

// startFleet starts n machines on a folder, and returns what a runtime needs to use them by the way that via is. Each
// takes as many turns at a time as settings say.
func startFleet(b *testing.B, n int, via func(addr string) string, settings ...string) (root string, environ []string, machines []*progtest.Program) {
	b.Helper()
	root = codextest.Dir(b, "work")
	var list []string
	for i := range n {
		p := progtest.Launch(b, program, []string{"machine"}, append([]string{
			fmt.Sprint("RUNTIME_MACHINE_NAME=m", i+1), "RUNTIME_MACHINE_ROOT=" + root, "RUNTIME_MACHINE_TOKEN=" + fleetToken,
			"RUNTIME_MACHINE_ADDR=" + progtest.FreeAddr(b), "RUNTIME_STATE_DIR=" + codextest.Dir(b, "machine"),
		}, settings...)...)
		p.AwaitListening()
		line := joinLine.FindStringSubmatch(p.Log())
		if line == nil {
			b.Fatalf("no line joins the machine:\n%s", p.Log())
		}
		machines = append(machines, p)
		list = append(list, "https://"+via(line[1])+line[2])
	}
	return root, []string{"RUNTIME_MACHINES=" + strings.Join(list, ","), "RUNTIME_MACHINES_TOKEN=" + fleetToken}, machines
}

// bareHere is a bare app-server that asks the model by way of a forwarder, as ours does, and whose commands run here.
func bareHere(b *testing.B, baseURL string, credential []string, more ...string) *bare {
	b.Helper()
	launch, _ := forwarded(b, alike(b, baseURL, credential...), benchKey)
	return newBare(b, launch, more...)
}

// bareElsewhere is one whose commands run on an exec-server of codex's, which it reaches by the way that via is. As ours
// with machines, its codex has no temp directory for commands here, and no guard of one.
func bareElsewhere(b *testing.B, baseURL string, credential []string, via func(addr string) string, more ...string) *bare {
	b.Helper()
	launch := alike(b, baseURL, credential...)
	launch.Temp.Commands, launch.Temp.Guard = "", ""
	launch, _ = forwarded(b, launch, benchKey)
	d := newBare(b, launch, more...)
	d.call("environment/add", appserver.EnvironmentAddParams{ID: "elsewhere", URL: "ws://" + via(execServer(b))}, nil)
	d.environments = []appserver.TurnEnvironment{{ID: "elsewhere", Cwd: d.dir, Roots: []string{d.dir}}}
	d.open()
	return d
}

// execServer starts one as runtime machine does, with a home and a temp directory of its own, and returns its address.
// Commands may write the temp directory, which takes codex some milliseconds of a command.
func execServer(b *testing.B) string {
	b.Helper()
	home := codextest.Home(b)
	cmd := exec.Command(codextest.Bin(b), "exec-server", "--listen", "ws://127.0.0.1:0", "--concurrent-requests", "64")
	cmd.Env, cmd.Dir = append(progtest.Environ(b), "CODEX_HOME="+home, "TMPDIR="+codextest.Dir(b, "temp")), home
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimPrefix(strings.TrimSpace(line), "ws://")
}
