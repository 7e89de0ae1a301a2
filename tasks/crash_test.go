package tasks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/launch"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
)

// The test of this file kills whole processes: the test binary itself is one.

// crashVar makes the test binary work through a day and die in the middle of it.
const crashVar = "TASKS_TEST_PROCESS"

// A day is what such a process is to do: the same messages each time, for a
// caller who does not know what became of them sends them again.
type day struct {
	Bin, Work, State string
	Args, Env        []string
	Effects          string // the file that commands add lines to
	Asks             bool   // its only message is a command that codex asks about
	DieAt            int    // the commit after which the process kills itself; 0 means that it lives
}

// A Word is a message of the day.
type Word struct{ id, context, text string }

func (d day) words() []Word {
	if d.Asks {
		return []Word{{"m1", "one", fmt.Sprintf("escalate echo ran >> %s", d.Effects)}}
	}
	return []Word{
		{"m1", "one", "remember blue-42"},
		{"m2", "one", fmt.Sprintf("run echo ran >> %s", d.Effects)},
		{"m3", "one", "recall"},
		{"m4", "two", "stream 200 8 1ms"},
		{"m5", "two", "say last"},
	}
}

// crash is the whole program, if the variable says so.
func crash() {
	text, ok := os.LookupEnv(crashVar)
	if !ok {
		return
	}
	var d day
	err := json.Unmarshal([]byte(text), &d)
	if err == nil {
		err = d.live()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// live works through the day and prints the tasks that came of it.
func (d day) live() error {
	ctx := context.Background()
	journal, err := store.Open(ctx, store.Config{Dir: d.State, Committed: func(n int) {
		if n == d.DieAt {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}})
	if err != nil {
		return err
	}
	cfg := codex.Config{
		Child:   codex.Process{Bin: d.Bin, Args: d.Args, Dir: d.Work, Env: d.Env, ClientName: "tasks-test", ClientVersion: "1"},
		Thread:  codex.Thread{ApprovalPolicy: agent.Never, Sandbox: agent.FullAccess},
		Journal: launch.Memory(journal),
	}
	if d.Asks {
		cfg.Thread.ApprovalPolicy, cfg.Thread.Sandbox = agent.OnRequest, agent.WorkspaceWrite
	}
	runner := executor.New(executor.Config{Journal: tasks.Book(journal)}, codex.New(cfg))
	engine, err := tasks.New(tasks.Config{Runner: runner, Journal: journal})
	if err != nil {
		return err
	}
	if err := engine.Recover(ctx); err != nil {
		return err
	}
	made, err := d.sendAll(ctx, engine)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(made); err != nil {
		return err
	}
	return errors.Join(runner.Close(ctx), engine.Close(ctx), journal.Close())
}

// sendAll sends everything at once, in order, and waits for all of it.
func (d day) sendAll(ctx context.Context, e *tasks.Engine) (made map[string]*a2a.Task, err error) {
	made = map[string]*a2a.Task{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, w := range d.words() {
		req := request(w.id, w.context, w.text)
		req.Config.ReturnImmediately = true
		if _, err := e.SendMessage(ctx, req); err != nil {
			return nil, fmt.Errorf("%s: %w", w.id, err)
		}
		wg.Go(func() {
			res, sendErr := e.SendMessage(ctx, request(w.id, w.context, w.text))
			mu.Lock()
			defer mu.Unlock()
			if sendErr != nil {
				err = sendErr
				return
			}
			made[w.id], err = sayYes(ctx, e, res.(*a2a.Task))
		})
	}
	wg.Wait()
	return made, err
}

// sayYes answers what a task asks until it has ended.
func sayYes(ctx context.Context, e *tasks.Engine, task *a2a.Task) (*a2a.Task, error) {
	for task.Status.State == a2a.TaskStateInputRequired {
		data, _ := task.Status.Message.Parts[1].Data().(map[string]any)
		res, err := e.SendMessage(ctx, to(task, fmt.Sprintf("answer to %v", data["id"]), "yes"))
		if err != nil {
			return nil, err
		}
		task = res.(*a2a.Task)
	}
	return task, nil
}

// run lets a process live through the day. It returns nil if that killed itself.
func (d day) run(t *testing.T) map[string]*a2a.Task {
	t.Helper()
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, complaints bytes.Buffer
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), crashVar+"="+string(text))
	cmd.Stdout, cmd.Stderr = &out, &complaints
	err = cmd.Run()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() && ctx.Err() == nil {
		return nil
	}
	if err != nil {
		t.Fatalf("killed at commit %d: %v\n%s", d.DieAt, err, complaints.String())
	}
	var made map[string]*a2a.Task
	if err := json.Unmarshal(out.Bytes(), &made); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	return made
}

// TestKilledAtEachCommit kills the process after its first commit, its second,
// and so on to the last. Whatever instant it dies at, the next one settles
// everything: each message has one task with one end, no command runs twice, and
// no answer is lost but that of a command that was cut off.
func TestKilledAtEachCommit(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	killAtEachCommit(t, day{}, day.check)
}

// TestKilledAtEachCommitOfAQuestion does the same to a turn that asks for leave:
// whenever it dies, the question can be answered, the task ends, and the command
// has not run twice.
func TestKilledAtEachCommitOfAQuestion(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	killAtEachCommit(t, day{Asks: true}, func(d day, t *testing.T, n int, made map[string]*a2a.Task) {
		ran, task := d.ran(), made["m1"]
		if task == nil || task.Status.State != a2a.TaskStateCompleted && task.Metadata[keys.Interrupted] != true {
			t.Fatalf("killed at commit %d: the task is %+v", n, task)
		}
		if ran > 1 || ran == 0 && task.Metadata[keys.Interrupted] != true {
			t.Errorf("killed at commit %d: the command ran %d times, %v %v", n, ran, task.Status.State, task.Metadata)
		}
		d.checkStore(t, n)
	})
}

func killAtEachCommit(t *testing.T, d day, check func(d day, t *testing.T, n int, made map[string]*a2a.Task)) {
	t.Helper()
	model := modeltest.Start(t, fakemodel.Keywords)
	d.Bin, d.Args = codextest.Bin(t), model.Overrides()
	for n := 1; ; n++ {
		root := codextest.Dir(t, "crash")
		d.Work, d.State, d.Effects = filepath.Join(root, "work"), filepath.Join(root, "state"), filepath.Join(root, "effects")
		d.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(root, "user"), "CODEX_HOME=" + filepath.Join(root, "home"), model.Env()}
		for _, dir := range []string{"work", "user", "home"} {
			if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		d.DieAt = n
		made := d.run(t)
		survived := made != nil
		if !survived {
			d.DieAt = 0
			made = d.run(t)
		}
		check(d, t, n, made)
		if survived {
			t.Logf("the day has %d commits", n-1)
			return
		}
	}
}

// ran counts how often the command of the day has run.
func (d day) ran() int {
	text, err := os.ReadFile(d.Effects)
	if err != nil {
		return 0
	}
	return strings.Count(string(text), "ran\n")
}

func (d day) check(t *testing.T, n int, made map[string]*a2a.Task) {
	t.Helper()
	ran := d.ran()
	command := made["m2"]
	switch {
	case command == nil:
		t.Fatalf("killed at commit %d: the command has no task", n)
	case command.Status.State == a2a.TaskStateCompleted && ran != 1:
		t.Errorf("killed at commit %d: the command completed and ran %d times", n, ran)
	case ran > 1, command.Status.State != a2a.TaskStateCompleted && command.Metadata[keys.Interrupted] != true:
		t.Errorf("killed at commit %d: the command ran %d times and is %s", n, ran, command.Status.State)
	}
	for id, want := range map[string]string{"m1": "remembered", "m3": "blue-42", "m4": "", "m5": "last"} {
		task := made[id]
		if task == nil || task.Status.State != a2a.TaskStateCompleted || !strings.Contains(strings.Join(texts(task), " "), want) {
			t.Errorf("killed at commit %d: %s is %+v", n, id, task)
		}
	}
	d.checkStore(t, n)
	if got := answered(made); !slices.Equal(got, []string{"m1", "m2", "m3"}) {
		t.Errorf("killed at commit %d: the order in context one is %v", n, got)
	}
}

// checkStore makes sure that the day has left nothing open.
func (d day) checkStore(t *testing.T, n int) {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{Dir: d.State})
	if err != nil {
		t.Fatal(err)
	}
	open, err := s.Unfinished(t.Context())
	page, listErr := s.Tasks(t.Context(), store.Query{Limit: 100})
	if err := errors.Join(err, listErr, s.Check(t.Context()), s.Close()); err != nil || len(open) != 0 || page.Total != len(d.words()) {
		t.Errorf("killed at commit %d: %d open, %d tasks, %v", n, len(open), page.Total, err)
	}
}

// answered returns the messages of context one in the order of their answers.
func answered(made map[string]*a2a.Task) []string {
	ids := []string{"m1", "m2", "m3"}
	slices.SortStableFunc(ids, func(a, b string) int {
		return made[a].Status.Timestamp.Compare(*made[b].Status.Timestamp)
	})
	return ids
}
