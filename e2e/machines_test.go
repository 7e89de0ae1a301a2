package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// machinesToken is the token of all machines of a test.
const machinesToken = "correct-horse-battery-staple"

// A fleetMachine is a machine that runtimes have in their lists.
type fleetMachine struct {
	*progtest.Program
	name, at string
}

var joinLine = regexp.MustCompile(`"machine":"(https://[^"]+)"`)

// startMember starts a machine on a folder.
func startMember(t *testing.T, name, root string, extra ...string) *fleetMachine {
	t.Helper()
	settings := append([]string{
		"RUNTIME_MACHINE_NAME=" + name, "RUNTIME_MACHINE_ROOT=" + root, "RUNTIME_MACHINE_TOKEN=" + machinesToken,
		"RUNTIME_MACHINE_ADDR=" + progtest.FreeAddr(t), "CODEX_BIN=" + codextest.Bin(t),
	}, extra...)
	m := &fleetMachine{Program: progtest.Launch(t, binary, []string{"machine"}, settings...), name: name}
	m.listens(t)
	return m
}

// listens waits until the machine does.
func (m *fleetMachine) listens(t *testing.T) {
	t.Helper()
	m.AwaitListening()
	at := joinLine.FindStringSubmatch(m.Log())
	if at == nil {
		t.Fatalf("no line joins the machine:\n%s", m.Log())
	}
	m.at = at[1]
}

// restarts starts a machine again where it was.
func (m *fleetMachine) restarts(t *testing.T) {
	t.Helper()
	m.Program = m.Relaunch()
	m.listens(t)
}

// startOnMachines starts a runtime whose commands run on machines that share its working directory.
func startOnMachines(t *testing.T, names []string, extra ...string) (*program, map[string]*fleetMachine) {
	t.Helper()
	work := codextest.Dir(t, "work")
	all, list := map[string]*fleetMachine{}, []string{}
	for _, name := range names {
		all[name] = startMember(t, name, work)
		list = append(list, all[name].at)
	}
	settings := append([]string{"RUNTIME_WORKDIR=" + work, "RUNTIME_MACHINES=" + strings.Join(list, ","), "RUNTIME_MACHINES_TOKEN=" + machinesToken, "RUNTIME_MAX_TURNS=16"}, extra...)
	p := start(t, settings...)
	p.Work = work
	return p, all
}

// on is the machine of a task's turn.
func on(task object) string { return fmt.Sprint(at(task, "metadata", "machine")) }

// TestMachines: conversations are side by side on three machines, each in its place, and stay there over a restart of the
// runtime, which leaves nothing running on them.
func TestMachines(t *testing.T) {
	t.Parallel()
	p, machines := startOnMachines(t, []string{"m1", "m2", "m3"})
	const conversations = 12
	before := map[string]string{}
	var mu sync.Mutex
	all := func(step string, check func(name string, task object)) {
		var each sync.WaitGroup
		for i := range conversations {
			each.Go(func() {
				name := fmt.Sprint("c", i)
				check(name, p.send(step+name, name, "run touch $TMPDIR/x && echo $MOLECULE_MACHINE_RUNTIME"))
			})
		}
		each.Wait()
	}
	all("first", func(name string, task object) {
		mu.Lock()
		defer mu.Unlock()
		if before[name] = on(task); state(task) != "TASK_STATE_COMPLETED" || machines[before[name]] == nil || text(task) == "" {
			t.Errorf("%s: %v on %s: %q", name, task["status"], before[name], text(task))
		}
	})
	count := map[string]int{}
	for _, name := range before {
		count[name]++
	}
	if count["m1"] != 4 || count["m2"] != 4 || count["m3"] != 4 {
		t.Errorf("the conversations are on %v", count)
	}
	cut := p.begin("cut", "c0", "run (setsid sleep 601 &); echo $$ > pid; sleep 600")["id"]
	at := filepath.Join(p.Work, "pid")
	progtest.WaitFor(t, "the command to begin", func() bool { text, err := os.ReadFile(at); return err == nil && len(text) > 0 })
	holds := machines[before["c0"]]
	p.Kill()
	p.Program = p.Restart()
	if task := p.ended(cut); state(task) != "TASK_STATE_FAILED" {
		t.Errorf("the turn that was cut off is %v", task["status"])
	}
	progtest.WaitFor(t, "nothing to be left on the machine", func() bool {
		return progtest.Find(holds.Pid(), "sleep 600") == 0 && progtest.Find(holds.Pid(), "sleep 601") == 0
	})
	all("again", func(name string, task object) {
		if state(task) != "TASK_STATE_COMPLETED" || on(task) != before[name] {
			t.Errorf("%s: %v on %s, and before on %s", name, task["status"], on(task), before[name])
		}
	})
}

// TestMemberKilled: the turn on a machine that is killed in the middle of a command is interrupted, by the name of the
// machine, its conversations go on elsewhere, and the others notice nothing. Back again the machine is used.
func TestMemberKilled(t *testing.T) {
	t.Parallel()
	p, machines := startOnMachines(t, []string{"m1", "m2"})
	first := p.send("1", "one", "remember the sea\nrun true")
	victim := machines[on(first)]
	other := p.send("2", "two", "run true")
	if on(other) == on(first) {
		t.Fatalf("both are on %s", on(other))
	}
	cut := p.begin("3", "one", "run touch begun; sleep 600")["id"]
	goesOn := p.begin("4", "two", "run sleep 3; echo well")["id"]
	progtest.WaitFor(t, "the command to begin", func() bool { _, err := os.Stat(filepath.Join(p.Work, "begun")); return err == nil })
	began := time.Now()
	victim.Kill()
	task := p.ended(cut)
	if took := time.Since(began); state(task) != "TASK_STATE_FAILED" || !strings.Contains(fmt.Sprint(task["status"]), "machine "+victim.name+": it has ended") || at(task, "metadata", "interrupted") != true {
		t.Errorf("after %v: %v", took, task)
	}
	if task := p.ended(goesOn); state(task) != "TASK_STATE_COMPLETED" || text(task) != "well" || on(task) != on(other) {
		t.Errorf("the other: %v on %s", task["status"], on(task))
	}
	after := p.send("5", "one", "recall")
	if text(after) != "recalled: the sea" || on(after) == victim.name {
		t.Errorf("on %s: %q", on(after), text(after))
	}
	if task := p.send("6", "one", "run echo here"); text(task) != "here" || on(task) == victim.name {
		t.Errorf("on %s: %v", on(task), task["status"])
	}
	victim.restarts(t)
	n := 0
	progtest.WaitFor(t, "the machine to be used again", func() bool {
		n++
		return on(p.send(fmt.Sprint("new", n), fmt.Sprint("new", n), "run true")) == victim.name
	})
}

// TestMembersDrain: machines that are stopped one after the other, and started again, under load, lose no turn.
func TestMembersDrain(t *testing.T) {
	t.Parallel()
	p, machines := startOnMachines(t, []string{"m1", "m2", "m3"})
	stop := make(chan struct{})
	var load sync.WaitGroup
	for i := range 6 {
		load.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				task := p.send(fmt.Sprint(i, "-", n), fmt.Sprint("c", i), "run sleep 0.2; echo well")
				if state(task) != "TASK_STATE_COMPLETED" || text(task) != "well" {
					t.Errorf("conversation %d, turn %d: %v: %q", i, n, task["status"], text(task))
				}
			}
		})
	}
	for _, m := range machines {
		m.Signal(syscall.SIGTERM)
		select {
		case <-m.Exited():
		case <-time.After(progtest.Patience):
			t.Fatal("it does not drain")
		}
		m.restarts(t)
	}
	close(stop)
	load.Wait()
}
