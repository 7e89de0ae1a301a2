package browser

import (
	"regexp"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

var joinsBy = regexp.MustCompile(`"machine":"(https://[^"]+)"`)

// TestMachines: the machines that commands run on have a panel, with a button that has one drain; a task says which one
// it is on.
func TestMachines(t *testing.T) {
	t.Parallel()
	work, token := codextest.Dir(t, "work"), "correct-horse-battery-staple"
	list := []string{"https://127.0.0.1:1"}
	for _, name := range []string{"alpha", "beta"} {
		m := progtest.Launch(t, binary, []string{"machine"}, "RUNTIME_MACHINE_NAME="+name, "RUNTIME_MACHINE_ROOT="+work, "RUNTIME_MACHINE_TOKEN="+token,
			"RUNTIME_MACHINE_LABELS=os=linux", "RUNTIME_MACHINE_ADDR="+progtest.FreeAddr(t), "CODEX_BIN="+codextest.Bin(t))
		m.AwaitListening()
		list = append(list, joinsBy.FindStringSubmatch(m.Log())[1])
	}
	r := start(t, "RUNTIME_WORKDIR="+work, "RUNTIME_MACHINES="+strings.Join(list, ","), "RUNTIME_MACHINES_TOKEN="+token)
	p := r.console(t)
	const alpha, beta, gone = "#card-machines li:nth-child(2)", "#card-machines li:nth-child(3)", "#card-machines li:nth-child(1)"
	p.sees(gone, "Lost")
	p.sees(alpha, "Takes turns")
	p.sees(alpha, "os=linux")
	p.sees(beta, "codex ")
	p.until("no button for what is gone", "document.querySelector('"+gone+" button').hidden")
	p.click(alpha + " button")
	p.hears("alpha takes no new turns.")
	p.sees(alpha, "Drains")
	p.begin("", "run true")
	p.sees("#task-state", "Done")
	p.sees("#task-facts", "on beta")
	p.sees(beta, "1 conversation")
	p.sees("#card-threads", "on beta")
	p.sees(alpha+" button", "Have it take turns")
	p.click(alpha + " button")
	p.sees(alpha, "Takes turns")
	p.named("with machines")
	p.noOverflow("with machines")
	p.picture("machines")
}

// TestNoMachines: without them there is no such panel.
func TestNoMachines(t *testing.T) {
	t.Parallel()
	p := start(t).console(t)
	p.sees("#card-queue", "running")
	p.until("no panel", "!document.querySelector('#card-machines')")
}
