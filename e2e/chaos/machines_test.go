package chaos

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// machinesToken is the token of all machines.
const machinesToken = "correct-horse-battery-staple"

// machines are those that commands run on. They belong to the goroutine that strikes. None is a nil one.
type machines struct {
	tb      testing.TB
	keepLog func(*progtest.Program)
	all     []*machine
}

// A machine is a runtime machine.
type machine struct {
	*progtest.Program
	address string
	stands  standing
	until   time.Time // when what it suffers is over, unless it drains
}

// A standing is what a machine suffers.
type standing int

// What a machine suffers.
const (
	fine standing = iota
	killed
	frozen
	draining
)

var joinLine = regexp.MustCompile(`"machine":"(https://[^"]+)"`)

// startMachines starts n machines on a folder.
func startMachines(t *testing.T, n int, root, mark string, keepLog func(*progtest.Program)) *machines {
	t.Helper()
	if n == 0 {
		return nil
	}
	all := &machines{tb: t, keepLog: keepLog}
	for i := range n {
		p := progtest.Launch(quiet{t}, binary, []string{"machine"},
			fmt.Sprint("RUNTIME_MACHINE_NAME=m", i+1), "RUNTIME_MACHINE_ROOT="+root, "RUNTIME_MACHINE_TOKEN="+machinesToken,
			"RUNTIME_MACHINE_ADDR="+progtest.FreeAddr(t), "RUNTIME_MACHINE_DRAIN=5s", "RUNTIME_STATE_DIR="+codextest.Dir(t, "machine"), mark)
		p.AwaitListening()
		line := joinLine.FindStringSubmatch(p.Log())
		if line == nil {
			t.Fatalf("no line joins the machine:\n%s", p.Log())
		}
		all.all = append(all.all, &machine{Program: p, address: line[1]})
	}
	return all
}

// environ is what the program needs to find them.
func (all *machines) environ() []string {
	if all == nil {
		return nil
	}
	var list []string
	for _, m := range all.all {
		list = append(list, m.address)
	}
	return []string{"RUNTIME_MACHINES=" + strings.Join(list, ","), "RUNTIME_MACHINES_TOKEN=" + machinesToken}
}

// hit strikes at the machine of a blow, or at the next one that is fine. It reports whether there was one.
func (all *machines) hit(b Blow) bool {
	for i := range all.all {
		if m := all.all[(b.Which+i)%len(all.all)]; m.stands == fine {
			return all.strike(m, b)
		}
	}
	return false
}

func (all *machines) strike(m *machine, b Blow) bool {
	m.until = time.Now().Add(b.Hold)
	switch b.Strike {
	case killMachine:
		m.stands = killed
		m.Kill()
		all.keepLog(m.Program)
	case killExec:
		pid := m.execServer()
		return pid != 0 && syscall.Kill(pid, syscall.SIGKILL) == nil
	case freezeMachine:
		m.stands = frozen
		m.Signal(syscall.SIGSTOP)
	case drainMachine:
		m.stands = draining
		m.Signal(syscall.SIGTERM)
	}
	return true
}

// execServer is the process of codex's exec-server on a machine, or 0.
func (m *machine) execServer() int {
	for _, pid := range progtest.Descendants(m.Pid()) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if bytes.Contains(line, []byte("\x00exec-server\x00")) {
			return pid
		}
	}
	return 0
}

// tend ends what has lasted long enough.
func (all *machines) tend() {
	if all == nil {
		return
	}
	for _, m := range all.all {
		if m.stands == draining || time.Now().After(m.until) {
			all.relieve(m)
		}
	}
}

// relieve ends what a machine suffers. One that drains does so for as long as it takes.
func (all *machines) relieve(m *machine) {
	switch m.stands {
	case draining:
		select {
		case <-m.Exited():
			all.keepLog(m.Program)
		default:
			return
		}
		fallthrough
	case killed:
		m.Program = m.Restart()
	case frozen:
		m.Signal(syscall.SIGCONT)
	}
	m.stands = fine
}

// tendEvery is how often it is looked what has lasted long enough.
const tendEvery = 20 * time.Millisecond

// tendUntil tends the machines until something happens. It reports whether it did within a time.
func (all *machines) tendUntil(happens <-chan struct{}, within time.Duration) bool {
	limit, tick := time.After(within), time.NewTicker(tendEvery)
	defer tick.Stop()
	for {
		select {
		case <-happens:
			return true
		case <-limit:
			return false
		case <-tick.C:
			all.tend()
		}
	}
}

// heal ends what all machines suffer.
func (all *machines) heal() {
	if all == nil {
		return
	}
	for _, m := range all.all {
		for deadline := time.Now().Add(restless); m.stands != fine; all.relieve(m) {
			if time.Now().After(deadline) {
				all.tb.Fatal("a machine has not drained")
			}
			time.Sleep(tendEvery)
		}
	}
}

// emptied is what machines have to end all that runs for a runtime that has ended: longer than they wait for it.
const emptied = 15 * time.Second

// machines checks that nothing runs on machines when the runtime has ended, ends them, and checks what they leave.
func (a *auditor) machines(there *machines, mark string) {
	if there == nil {
		return
	}
	own := map[int]bool{os.Getpid(): true}
	for _, m := range there.all {
		own[m.Pid()] = true
	}
	for deadline := time.Now().Add(emptied); len(marked(mark, own)) > 0; time.Sleep(tendEvery) {
		if time.Now().After(deadline) {
			break
		}
	}
	for _, pid := range marked(mark, own) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		a.ledger.fault("process %d is left on a machine: %q", pid, line)
	}
	for _, m := range there.all {
		m.Stop()
		there.keepLog(m.Program)
		a.files(filepath.Join(m.State, "codex"), "homes", "repositories")
		a.files(filepath.Join(m.State, "codex", "homes"), "-own")
	}
}
