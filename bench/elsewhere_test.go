package bench

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	fleetclient "github.com/Molecule-AI/molecule-codex-runtime/fleet/client"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet/link"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet/roster"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
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

// bareElsewhere is one whose commands run on another machine, which it reaches by an environment. As ours with machines,
// its codex has no temp directory for commands here, and no guard of one.
func bareElsewhere(b *testing.B, baseURL string, credential []string, to appserver.EnvironmentAddParams, more ...string) *bare {
	b.Helper()
	launch := alike(b, baseURL, credential...)
	launch.Temp.Commands, launch.Temp.Guard = "", ""
	launch, _ = forwarded(b, launch, benchKey)
	d := newBare(b, launch, more...)
	to.ID = "elsewhere"
	d.call("environment/add", to, nil)
	d.environments = []appserver.TurnEnvironment{{ID: to.ID, Cwd: d.dir, Roots: []string{d.dir}}}
	d.open()
	return d
}

// direct is an exec-server of codex's own, reached by the way that via is.
func direct(b *testing.B, via func(addr string) string) appserver.EnvironmentAddParams {
	b.Helper()
	return appserver.EnvironmentAddParams{URL: "ws://" + via(execServer(b))}
}

// through is an exec-server behind runtime machine, which is reached as the runtime does it: by a link.
func through(b *testing.B, via func(addr string) string) appserver.EnvironmentAddParams {
	b.Helper()
	_, environ, _ := startFleet(b, 1, via)
	address, fingerprint, _ := strings.Cut(strings.TrimPrefix(environ[0], "RUNTIME_MACHINES=https://"), "#sha256:")
	now := time.Now().UnixNano()
	c := fleetclient.New(fleetclient.Config{
		Address: address, TLS: roster.Entry{Fingerprint: fingerprint}.TLS(nil), Token: func() string { return fleetToken },
		Runtime: "bench", Epoch: func() int64 { return now },
	})
	b.Cleanup(c.Close)
	ctx, cancel := context.WithCancel(context.Background())
	heard, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		first := sync.OnceFunc(func() { close(heard) })
		_ = c.Watch(ctx, time.Minute, func(wire.Status) { first() }) // its end is ours
	}()
	b.Cleanup(func() {
		cancel()
		<-over
	})
	<-heard
	l, err := link.Listen(c, nil, "/v1/exec", slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(l.Close)
	return appserver.EnvironmentAddParams{URL: l.URL(), Token: l.Token()}
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
