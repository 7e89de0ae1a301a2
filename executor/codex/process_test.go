package codex_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// The tests in this file kill whole processes: the test binary itself is one.

// processVar makes the test binary run one message to its end.
const processVar = "EXECUTOR_TEST_PROCESS"

// An errand is what such a process does.
type errand struct {
	Bin, Dir, Book, Text string
	Args, Env            []string
}

// process is the whole program, if the variable says so. It keeps its book in a
// file and takes up what is there.
func process() {
	text, ok := os.LookupEnv(processVar)
	if !ok {
		return
	}
	var do errand
	err := json.Unmarshal([]byte(text), &do)
	if err == nil {
		err = do.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func (do errand) run() error {
	book, cut, ends, err := read(do.Book)
	if err != nil || len(ends) > 0 {
		return err
	}
	e := newRig(config{
		driverConfig: driverConfig{
			Child: codex.Process{
				Bin: do.Bin, Args: do.Args, Dir: do.Dir, Env: do.Env, ClientName: "executor-test", ClientVersion: "1",
			},
			Thread: codex.Thread{
				ApprovalPolicy: agent.Never, Sandbox: agent.FullAccess,
			},
		},
		Journal: book,
	})
	ended := make(chan agent.Ended, 1)
	job := executor.Job{ID: "j1", Context: "one", Input: []agent.Input{agent.Text(do.Text)}, Cut: cut}
	_, err = e.Submit(job, func(event agent.Event) {
		switch event := event.(type) {
		case agent.ItemStarted:
			if event.Item.Kind.IsTool() {
				_ = write(do.Book, page{Tool: true})
			}
		case agent.Ended:
			ended <- event
		}
	})
	if err != nil {
		return err
	}
	end := <-ended
	if err := write(do.Book, page{End: &end}); err != nil {
		return err
	}
	return e.Close(context.Background())
}

// A shop is a place where processes run one after the other.
type shop struct {
	*testing.T
	errand
	effects string // the file to which the message's command adds a line
}

func newShop(t *testing.T, model *modeltest.Model, command string) *shop {
	cfg := codexConfig(t, model)
	s := &shop{T: t, effects: filepath.Join(cfg.Child.Dir, "effects")}
	s.errand = errand{
		Bin: cfg.Child.Bin, Dir: cfg.Child.Dir, Args: cfg.Child.Args, Env: cfg.Child.Env,
		Book: filepath.Join(codextest.Dir(t, "state"), "book"), Text: strings.ReplaceAll(command, "EFFECTS", s.effects),
	}
	return s
}

// start runs a process.
func (s *shop) start() *exec.Cmd {
	s.Helper()
	text, err := json.Marshal(s.errand)
	if err != nil {
		s.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), processVar+"="+string(text))
	cmd.Stderr = s.Output()
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	return cmd
}

// settle runs processes until one has an end, and returns it.
func (s *shop) settle() agent.Ended {
	s.Helper()
	for range 5 {
		cmd := s.start()
		timer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		timer.Stop()
		_, _, ends, err := read(s.Book)
		if err != nil {
			s.Fatal(err)
		}
		if len(ends) > 0 {
			return ends[0]
		}
	}
	s.Fatal("the message has no end")
	return agent.Ended{}
}

// check compares what was done with what is said about it.
func (s *shop) check(end agent.Ended) string {
	s.Helper()
	text, _ := os.ReadFile(s.effects)
	lines := strings.Count(string(text), "\n")
	switch {
	case lines > 1:
		s.Errorf("the command ran %d times (%+v)", lines, end)
	case end.Outcome == agent.Completed && lines != 1:
		s.Errorf("the turn is completed, but its command ran %d times", lines)
	case end.Outcome == agent.Interrupted && !end.Tools:
		s.Errorf("interrupted for no reason: %+v", end)
	case end.Outcome != agent.Completed && end.Outcome != agent.Interrupted:
		s.Errorf("end = %+v (%v)", end, end.Failure)
	}
	return fmt.Sprintf("%s, %d line(s)", end.Outcome, lines)
}

// instants are when things are killed, counted from the beginning of an attempt:
// a turn with one command takes some 100 ms, and more on a busy machine.
func instants() []time.Duration {
	var all []time.Duration
	for i := range time.Duration(14) {
		all = append(all, i*13*time.Millisecond)
	}
	return all
}

// TestKilledAtAnyPoint kills the process at instants around its command.
func TestKilledAtAnyPoint(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	model := modeltest.Start(t, fakemodel.Keywords)
	for _, after := range instants() {
		t.Run(after.String(), func(t *testing.T) {
			s := newShop(t, model, "run echo x >> EFFECTS")
			cmd := s.start()
			eventually(t, "the attempt to begin", func() bool { _, err := os.Stat(s.Book); return err == nil })
			time.Sleep(after)
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			_, cut, _, err := read(s.Book)
			t.Logf("%s: %s (it left %+v, %v)", after, s.check(s.settle()), cut, err)
		})
	}
}

// TestCommandThatKills has the command itself kill codex, or us, right after its
// effect: faster than either can say that it began.
func TestCommandThatKills(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	for name, victim := range map[string]string{
		"codex": "$PPID",
		"us":    "$(ps -o ppid= -p $PPID)",
	} {
		t.Run(name, func(t *testing.T) {
			for range 3 {
				s := newShop(t, modeltest.Start(t, fakemodel.Keywords), "run echo x >> EFFECTS; kill -9 "+victim)
				end := s.settle()
				if got := s.check(end); end.Outcome != agent.Interrupted || !end.Tools || got != "interrupted, 1 line(s)" {
					t.Errorf("%s, tools %v, want it interrupted after its command ran once", got, end.Tools)
				}
			}
		})
	}
}

// TestChildKilledAnywhere kills codex alone, at instants around the command.
func TestChildKilledAnywhere(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	model := modeltest.Start(t, fakemodel.Keywords)
	for _, after := range instants() {
		t.Run(after.String(), func(t *testing.T) {
			s := newShop(t, model, "run echo x >> EFFECTS")
			book := &notebook{}
			e := onCodex(t, model, func(c *config) { c.Journal = book })
			w := submit(t, e, "j1", "one", s.Text)
			eventually(t, "the attempt to begin", func() bool { return book.last("j1") != nil })
			pid := e.Health().Child.Pid
			time.Sleep(after)
			_ = syscall.Kill(pid, syscall.SIGKILL)
			end := w.wait(t)
			t.Logf("%s: %s, %d attempt(s)", after, s.check(end), len(book.attempts))
		})
	}
}

// TestLeftoversOfAKilledProcess puts a command out of codex's reach.
func TestLeftoversOfAKilledProcess(t *testing.T) {
	t.Parallel()
	model := modeltest.Start(t, fakemodel.Keywords)
	const sleep = "sleep 65.25"
	s := newShop(t, model, "run sh -c 'setsid nohup "+sleep+" >/dev/null 2>&1 & sleep 60'")
	cmd := s.start()
	eventually(t, "the command to run", func() bool { return countProcesses(sleep) == 1 })
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if n := countProcesses(sleep); n != 1 {
		t.Fatalf("%d processes are left, the test needs one", n)
	}
	book, cut, _, err := read(s.Book)
	if err != nil || cut == nil {
		t.Fatalf("cut = %+v, %v", cut, err)
	}
	e := onCodex(t, model, func(c *config) { c.Child.Env, c.Journal = s.Env, book })
	e.Warm()
	eventually(t, "codex to be ready", func() bool { return e.Health().Child.Pid != 0 })
	if n := countProcesses(sleep); n != 0 {
		t.Errorf("codex is ready, and %d processes of a killed runtime still run", n)
	}
	end := submitCut(t, e, "j1", "one", s.Text, cut).wait(t)
	if wantEnd(t, end, agent.Interrupted, agent.FailUnreachable); !end.Tools {
		t.Error("it is said to have used no tools")
	}
}

// endless has a turn say more than anybody waits for.
const endless = "stream 20000 5 10ms"

// TestChildKilledInText runs the message again with its observer attached.
func TestChildKilledInText(t *testing.T) {
	t.Parallel()
	var killed atomic.Bool
	model := modeltest.Start(t, func(turn *fakemodel.Turn) {
		if killed.Load() && strings.HasPrefix(turn.LastUserText(), "stream") {
			turn.Say("all of it")
		} else {
			fakemodel.Keywords(turn)
		}
	})
	e := onCodex(t, model, nil)
	submit(t, e, "j0", "one", "remember green-7").wait(t)
	w := submit(t, e, "j1", "one", endless)
	eventually(t, "some text", func() bool { return len(seen[agent.TextDelta](w)) > 5 })
	killed.Store(true)
	if err := syscall.Kill(e.Health().Child.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	end := w.wait(t)
	if end.Outcome != agent.Completed || end.Tools {
		t.Errorf("end = %+v", end)
	}
	started := seen[agent.Started](w)
	if len(started) != 2 || started[1].Attempt != 2 || started[1].ThreadID != started[0].ThreadID {
		t.Errorf("Started = %+v, want a second attempt on the same thread", started)
	}
	if got := said(submit(t, e, "j2", "one", "recall").wait(t)); !strings.Contains(got, "green-7") {
		t.Errorf("the thread recalls %q", got)
	}
}

// TestStopInText has our own Close cut a text off; the next process runs it again.
func TestStopInText(t *testing.T) {
	t.Parallel()
	cfg := codexConfig(t, modeltest.Start(t, fakemodel.Keywords))
	book := &notebook{}
	cfg.Journal = book
	e := running(t, cfg)
	w := submit(t, e, "j1", "one", endless)
	eventually(t, "some text", func() bool { return len(seen[agent.TextDelta](w)) > 5 })
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	end := w.wait(t)
	if wantEnd(t, end, agent.Interrupted, agent.FailShutdown); end.Tools {
		t.Error("it is said to have used tools")
	}
	w = submitCut(t, running(t, cfg), "j1", "one", "stream 20 5", book.last("j1"))
	wantEnd(t, w.wait(t), agent.Completed, "")
	if a := book.attempts; len(a) != 2 || a[1].Thread != a[0].Thread || a[1].N != 2 {
		t.Errorf("attempts = %+v", a)
	}
}
