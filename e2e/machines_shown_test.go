package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// A shownMachine is what runtime machines says of one.
type shownMachine struct {
	Name, Address, State, Why, Codex string
	Takes, Draining                  bool
	Conversations                    int
}

// machineList is what runtime machines --json says.
func (p *program) machineList() map[string]shownMachine {
	p.t.Helper()
	out, code := p.machines("--json")
	var found struct{ Machines []shownMachine }
	if err := json.Unmarshal([]byte(out), &found); err != nil || code != 0 {
		p.t.Fatalf("runtime machines: %d, %v: %s", code, err, out)
	}
	all := map[string]shownMachine{}
	for _, m := range found.Machines {
		all[m.Name] = m
	}
	return all
}

// machines runs runtime machines, and returns all that it says.
func (p *program) machines(args ...string) (out string, code int) {
	p.t.Helper()
	return p.says(append([]string{"machines"}, args...), "RUNTIME_URL="+p.URL)
}

// says runs another command with the settings of the program, and with further ones.
func (p *program) says(args []string, settings ...string) (out string, code int) {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), binary, args...)
	cmd.Env = append(p.Environ(), settings...)
	said, err := cmd.CombinedOutput()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		p.t.Fatal(err)
	}
	return string(said), cmd.ProcessState.ExitCode()
}

// TestMachinesShown: the machines are listed, and one that is told to drain takes no new conversations until it is told
// otherwise; probes, metrics and the log have them, too.
func TestMachinesShown(t *testing.T) {
	t.Parallel()
	p, machines := startOnMachines(t, []string{"m1", "m2"})
	progtest.WaitFor(t, "both to be up", func() bool { return p.machineList()["m1"].Takes && p.machineList()["m2"].Takes })
	first := p.send("1", "one", "run true")
	drained, other := on(first), "m1"
	if drained == other {
		other = "m2"
	}
	if m := p.machineList()[drained]; m.State != "up" || m.Conversations != 1 || m.Codex != codextest.Version(t) || !strings.HasPrefix(machines[drained].at, "https://"+m.Address+"#") {
		t.Errorf("%s is %+v", drained, m)
	}
	if out, code := p.machines("drain", drained); code != 0 || !strings.Contains(out, drained+" takes no new turns") {
		t.Fatalf("drain: %d, %s", code, out)
	}
	for i := range 4 {
		if task := p.send(fmt.Sprint("d", i), fmt.Sprint("d", i), "run true"); on(task) != other {
			t.Errorf("a new conversation is on %s, which drains", on(task))
		}
	}
	if moved := p.send("2", "one", "run true"); on(moved) != other {
		t.Errorf("the conversation goes on on %s, which drains", on(moved))
	}
	if out, _ := p.machines(); !strings.Contains(out, drained+"       drains") || !strings.Contains(p.Log(), `"machine":"`+other+`"`) {
		t.Errorf("they are shown as\n%s", out)
	}
	if out, code := p.machines("undrain", drained); code != 0 || out != drained+" takes turns.\n" {
		t.Fatalf("undrain: %d, %s", code, out)
	}
	if task := p.send("3", "three", "run true"); on(task) != drained {
		t.Errorf("a new conversation is on %s", on(task))
	}
	if out, code := p.machines("drain", "m7"); code != 1 || !strings.Contains(out, "there are m1, m2") {
		t.Errorf("no such machine: %d, %s", code, out)
	}
	p.tellsOfMachines(t)
	machines[other].Kill()
	progtest.WaitFor(t, "the loss to be shown", func() bool { return p.machineList()[other].State == "lost" })
	progtest.WaitFor(t, "the loss to be counted", func() bool {
		return strings.Contains(p.read("/metrics"), fmt.Sprintf("molecule_codex_machine_lost_total{machine=%q} 1", other))
	})
	if check := p.machineCheck(); !strings.Contains(check, "1 of 2 take turns") || !strings.Contains(check, other+" is lost") {
		t.Errorf("readiness says %s", check)
	}
}

// tellsOfMachines: metrics and probes have them, for those who may read them.
func (p *program) tellsOfMachines(t *testing.T) {
	t.Helper()
	metrics := p.read("/metrics")
	for _, line := range []string{`molecule_codex_machine_up{machine="m1"} 1`, `molecule_codex_machine_takes_turns{machine="m2"} 1`, "molecule_codex_machine_waiting 0", "molecule_codex_machine_wait_seconds_count 7"} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("the metrics lack %s", line)
		}
	}
	if check := p.machineCheck(); !strings.Contains(check, "2 of 2 take turns") {
		t.Errorf("readiness says %s", check)
	}
}

// read is a page.
func (p *program) read(path string) string {
	p.t.Helper()
	_, body := p.fetch(path)
	return body
}

// machineCheck is what /readyz says of machines.
func (p *program) machineCheck() string {
	p.t.Helper()
	var ready struct {
		Checks []struct{ Name, Message string }
	}
	if err := json.Unmarshal([]byte(p.read("/readyz")), &ready); err != nil {
		p.t.Fatal(err)
	}
	for _, c := range ready.Checks {
		if c.Name == "machines" {
			return c.Message
		}
	}
	return "nothing"
}

// TestMachinesDoctor: doctor has a command run on each machine, and says of one that cannot what to do.
func TestMachinesDoctor(t *testing.T) {
	t.Parallel()
	p, machines := startOnMachines(t, []string{"m1", "m2"})
	running := p.begin("long", "long", "run touch begun; sleep 600")["id"]
	progtest.WaitFor(t, "the command to begin", func() bool { _, err := os.Stat(filepath.Join(p.Work, "begun")); return err == nil })
	far := startMember(t, "m3", codextest.Dir(t, "elsewhere"))
	list := "RUNTIME_MACHINES=" + strings.Join([]string{machines["m1"].at, machines["m2"].at, far.at, "https://" + progtest.FreeAddr(t)}, ",")
	out, _ := p.says([]string{"doctor", "--json"}, list)
	var report struct {
		Checks []struct{ Name, Status, Detail, Fix string }
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var got []string
	for _, c := range report.Checks {
		if strings.HasPrefix(c.Name, "machine") {
			got = append(got, c.Status+" "+c.Detail+" "+c.Fix)
		}
	}
	version := codextest.Version(t)
	want := []string{
		"ok 2 of 4 take turns ", "ok m1, codex " + version + ": a command ran in its sandbox, in " + p.Work + " ", "ok m2, codex " + version + ": a command ran in its sandbox, in " + p.Work + " ",
		"warn m3 has no place for conversations: ", "warn it takes no connections start runtime machine there",
	}
	for i, line := range want {
		if len(got) != len(want) || !strings.HasPrefix(got[i], line) {
			t.Fatalf("doctor says %q, want %q", got, want)
		}
	}
	out, _ = p.says([]string{"doctor", "--json"}, "RUNTIME_MACHINES_TOKEN=another-token-than-theirs")
	if !strings.Contains(out, "it does not take the token") || !strings.Contains(out, `"0 of 2 take turns"`) {
		t.Errorf("with another token doctor says %s", out)
	}
	if s := state(p.get(running)); s != "TASK_STATE_WORKING" {
		t.Errorf("the turn beside it is %s", s)
	}
	p.call("CancelTask", object{"id": running})
}

// TestNoMachinesShown: a runtime without machines says so, and what to do.
func TestNoMachinesShown(t *testing.T) {
	t.Parallel()
	p := start(t)
	if out, code := p.machines(); code != 1 || !strings.Contains(out, "it was started without RUNTIME_MACHINES; set RUNTIME_MACHINES there") {
		t.Errorf("%d, %s", code, out)
	}
}
