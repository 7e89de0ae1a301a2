package codex_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

var spawned = regexp.MustCompile(`spawn ([a-z]+) (/[^ "\\]+)`)

// spawning is a model whose turns, asked to "spawn WHAT FILE", have a subagent that leaves
// two commands running and then writes line after line into a file, without end. The turn
// itself waits for it, has done, or fails, as WHAT has it.
func spawning(t *fakemodel.Turn) {
	outputs := len(t.NewToolOutputs())
	match := spawned.FindStringSubmatch(string(t.Body))
	switch {
	case match != nil && t.FromSubagent():
		work(t, outputs, match[2])
	case !strings.HasPrefix(t.LastUserText(), "spawn "):
		fakemodel.Keywords(t)
	case outputs == 0:
		message, _ := json.Marshal(map[string]any{"task_name": "sub", "message": t.LastUserText()})
		t.CallIn("collaboration", "spawn_agent", string(message))
	case match[1] == "wait":
		t.CallIn("collaboration", "wait_agent", `{"timeout_ms":30000}`)
	default:
		for lines(match[2]) < 3 && t.Context().Err() == nil {
			time.Sleep(time.Millisecond)
		}
		if match[1] == "fail" {
			t.Fail(400, "no")
			return
		}
		t.Say("spawned")
	}
}

// work is what the model has a subagent do, which has inherited the output of its making.
func work(t *fakemodel.Turn, outputs int, file string) {
	switch outputs {
	case 0:
		t.Exec("setsid nohup " + leftBy(file) + " >/dev/null 2>&1 & true")
	case 1:
		t.Call("exec_command", `{"cmd":"`+leftBy(file)+`","yield_time_ms":250}`)
	default:
		t.Exec("sleep 0.2; echo x >> " + file) // as fast as it can, it would take a core from the tests beside it
	}
}

// leftBy is the command that the subagent with this file leaves running, twice.
func leftBy(file string) string { return "sleep 70" + filepath.Ext(file) }

func lines(file string) int {
	text, _ := os.ReadFile(file)
	return strings.Count(string(text), "\n")
}

// wantQuiet has other turns run, and fails the test if a subagent does, too.
func wantQuiet(t *testing.T, e *rig, file string) {
	t.Helper()
	before := lines(file)
	for i := range 5 {
		submit(t, e, fmt.Sprintf("%s-%d", file, i), "other", "run true").wait(t)
	}
	if after := lines(file); after != before {
		t.Errorf("after its end the subagent has written %d lines more", after-before)
	}
	if n := countProcesses(leftBy(file)); n != 0 {
		t.Errorf("%d of its commands run", n)
	}
}

func wantWork(t *testing.T, file string) {
	t.Helper()
	n := lines(file)
	eventually(t, "the subagent to work", func() bool { return lines(file) > n+2 })
}

// TestSubagentEndsWithItsTurn where that does not end as it should.
func TestSubagentEndsWithItsTurn(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		what   string
		change func(*config)
		stop   func(t *testing.T, e *rig)
		want   agent.Outcome
	}{
		{"wait", nil, func(t *testing.T, e *rig) { cancel(t, e, "j1") }, agent.Canceled},
		{"wait", func(c *config) { c.TurnTimeout = 20 * time.Second }, func(*testing.T, *rig) {}, agent.Failed},
		{"fail", nil, func(*testing.T, *rig) {}, agent.Failed},
	} {
		t.Run(fmt.Sprint(c.what, i), func(t *testing.T) {
			t.Parallel()
			e := onCodex(t, modeltest.Start(t, spawning), c.change)
			file := filepath.Join(codextest.Dir(t, "lines"), fmt.Sprintf("file.%d", i))
			w := submit(t, e, "j1", "one", "spawn "+c.what+" "+file)
			eventually(t, "the subagent to work", func() bool { return lines(file) > 2 })
			c.stop(t, e)
			if end := w.wait(t); end.Outcome != c.want {
				t.Errorf("end = %+v (%+v)", end, end.Failure)
			}
			wantQuiet(t, e, file)
			if restarts := e.Health().Child.Restarts; restarts != 0 {
				t.Errorf("codex was restarted %d times", restarts)
			}
		})
	}
}

// TestSubagentsOfPeersEndWithTheirTurn, also where that ends well: another agent has any number of
// conversations, and what goes on counts among no turns.
func TestSubagentsOfPeersEndWithTheirTurn(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, spawning), nil)
	file := filepath.Join(codextest.Dir(t, "lines"), "file.21")
	job := executor.Job{ID: "j1", Context: "one", Input: []agent.Input{agent.Text("spawn once " + file)}, Peer: true}
	wantEnd(t, submitJob(t, e, job).wait(t), agent.Completed, "")
	wantQuiet(t, e, file)
}

// TestSubagentOfAnEarlierTurn goes on after its turn has ended well, until one of its
// conversation is canceled; that of another conversation goes on.
func TestSubagentOfAnEarlierTurn(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, spawning), nil)
	dir := codextest.Dir(t, "lines")
	file, others := filepath.Join(dir, "file.11"), filepath.Join(dir, "file.12")
	wantEnd(t, submit(t, e, "j1", "one", "spawn once "+file).wait(t), agent.Completed, "")
	wantEnd(t, submit(t, e, "j2", "two", "spawn once "+others).wait(t), agent.Completed, "")
	wantWork(t, file)
	w := submit(t, e, "j3", "one", "hang")
	eventually(t, "the turn to start", func() bool { return len(seen[agent.Started](w)) == 1 })
	wantWork(t, file)
	cancel(t, e, "j3")
	wantEnd(t, w.wait(t), agent.Canceled, "")
	wantQuiet(t, e, file)
	wantWork(t, others)
}

// TestSubagentThatBeginsTooLate: its turn is canceled while it is being made.
func TestSubagentThatBeginsTooLate(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, spawning), nil)
	dir := codextest.Dir(t, "lines")
	for i := range 4 {
		id, file := fmt.Sprintf("j%d", i), filepath.Join(dir, fmt.Sprintf("file.2%d", i))
		w := submit(t, e, id, id, "spawn wait "+file)
		eventually(t, "a tool of the turn", func() bool { return len(seen[agent.ItemStarted](w)) > i%2 })
		cancel(t, e, id)
		wantEnd(t, w.wait(t), agent.Canceled, "")
		wantQuiet(t, e, file)
	}
	if restarts := e.Health().Child.Restarts; restarts != 0 {
		t.Errorf("codex was restarted %d times", restarts)
	}
}
