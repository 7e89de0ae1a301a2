package replay_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/replay"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/wirelog"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

var keep = flag.String("keep", "", "a folder that the records of these tests are copied to")

func TestMain(m *testing.M) {
	if socket := os.Getenv(replay.SocketEnv); socket != "" {
		os.Exit(replay.Relay(socket, os.Stdin, os.Stdout, os.Stderr))
	}
	flag.Parse()
	leaktest.Main(m)
}

// patience bounds every wait of these tests; reaching it is a failure.
const patience = 60 * time.Second

// A session is a program on the real codex that records.
type session struct {
	t        *testing.T
	model    *modeltest.Model
	path     string
	cfg      executor.Config
	dir      string
	recorder *wirelog.Recorder
	journal  *store.Store
	executor *executor.Executor
	engine   *tasks.Engine
}

// newSession starts one; change may be nil.
func newSession(t *testing.T, change func(*executor.Config)) *session {
	t.Helper()
	model := modeltest.Start(t, fakemodel.Keywords)
	s := &session{t: t, model: model, path: filepath.Join(t.TempDir(), "wire.jsonl"), dir: t.TempDir()}
	s.cfg = executor.Config{
		Child: appserver.Config{
			Bin: codextest.Bin(t), Dir: codextest.Dir(t, "work"), ClientName: "replay-test", ClientVersion: "1",
		},
		Thread: appserver.ThreadStartParams{
			ApprovalPolicy: appserver.Never, Sandbox: appserver.DangerFullAccess, ApprovalsReviewer: "user",
		},
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	launch := executor.Launch{Args: model.Overrides(), Env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + codextest.Dir(t, "user"), "CODEX_HOME=" + codextest.Home(t), model.Env(),
	}}
	s.cfg.Prepare = func(context.Context) (executor.Launch, error) { return launch, nil }
	if change != nil {
		change(&s.cfg)
	}
	s.start()
	return s
}

func (s *session) start() {
	s.t.Helper()
	redact := strings.NewReplacer("hunter2-hunter2", "***").Replace
	s.recorder = wirelog.Open(wirelog.Config{Path: s.path, Redact: redact, Run: wirelog.Run{Runtime: "test", Codex: appserver.PinnedVersion()}})
	var err error
	if s.journal, err = store.Open(s.t.Context(), store.Config{Dir: s.dir}); err != nil {
		s.t.Fatal(err)
	}
	cfg := s.cfg
	cfg.Book, cfg.Recorder, cfg.Child.Wire = tasks.Book(s.journal), s.recorder, s.recorder
	s.executor = executor.New(cfg)
	if s.engine, err = tasks.New(tasks.Config{Runner: s.executor, Journal: s.journal}); err != nil {
		s.t.Fatal(err)
	}
	if err := s.engine.Recover(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// stop ends it in order.
func (s *session) stop() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := errors.Join(s.executor.Close(ctx), s.engine.Close(ctx), s.journal.Close(), s.recorder.Close())
	if err != nil {
		s.t.Errorf("stop: %v", err)
	}
	if *keep != "" {
		name := strings.ToLower(strings.TrimPrefix(s.t.Name(), "Test"))
		if err := os.WriteFile(filepath.Join(*keep, name+".jsonl"), []byte(s.anywhere(s.record())), 0o600); err != nil {
			s.t.Error(err)
		}
	}
}

// anywhere is a record that does not show where it was made.
func (s *session) anywhere(record string) string {
	launch, err := s.cfg.Prepare(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	names := map[string]string{s.cfg.Child.Dir: "/home/user/work"}
	for _, kv := range launch.Env {
		name, value, _ := strings.Cut(kv, "=")
		if to := map[string]string{"HOME": "/home/user", "CODEX_HOME": "/home/user/.codex"}[name]; to != "" {
			names[value] = to
		}
	}
	for have, to := range names {
		if path, err := filepath.EvalSymlinks(have); err == nil {
			record = strings.ReplaceAll(record, path, to)
		}
		record = strings.ReplaceAll(record, have, to)
	}
	if host, err := os.Hostname(); err == nil {
		record = strings.ReplaceAll(record, `"`+host+`"`, `"machine"`)
	}
	return record
}

// send sends a message and returns its task; wait says whether that is to have ended.
func (s *session) send(context, task, text string, wait bool) *a2a.Task {
	s.t.Helper()
	m := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))
	m.ContextID, m.TaskID = context, a2a.TaskID(task)
	result, err := s.engine.SendMessage(s.t.Context(), &a2a.SendMessageRequest{
		Message: m, Config: &a2a.SendMessageConfig{ReturnImmediately: !wait},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return result.(*a2a.Task)
}

func (s *session) say(context, text string) *a2a.Task {
	s.t.Helper()
	return s.send(context, "", text, true)
}

// until waits for a task to be as ok wants it.
func (s *session) until(id a2a.TaskID, what string, ok func(*a2a.Task) bool) *a2a.Task {
	s.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		task, err := s.engine.GetTask(s.t.Context(), &a2a.GetTaskRequest{ID: id})
		if err != nil {
			s.t.Fatal(err)
		}
		if ok(task) {
			return task
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("waited in vain for %s: %+v", what, task)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func in(states ...a2a.TaskState) func(*a2a.Task) bool {
	return func(t *a2a.Task) bool {
		return slices.Contains(states, t.Status.State)
	}
}

var ended = func(t *a2a.Task) bool { return t.Status.State.Terminal() }

// record returns what was recorded.
func (s *session) record() string {
	s.t.Helper()
	text, err := os.ReadFile(s.path)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// config plays with this binary as codex.
func config(t *testing.T) replay.Config {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Under the race detector a program would sleep for a second before it exits.
	return replay.Config{Relay: self, RelayEnv: []string{"GORACE=atexit_sleep_ms=0"}, Wait: patience, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))}
}

// replayed plays the record and wants it to end as it did.
func (s *session) replayed() *replay.Report {
	s.t.Helper()
	report, err := replay.File(s.t.Context(), s.path, config(s.t))
	if err != nil {
		s.t.Fatal(err)
	}
	if !report.OK {
		text, _ := json.MarshalIndent(report, "", "  ")
		s.t.Errorf("not as recorded:\n%s\n%s\nthe record:\n%s", report, text, clip(s.record()))
	}
	return report
}

// clip shortens the lines of a record.
func clip(record string) string {
	var b strings.Builder
	for line := range strings.Lines(record) {
		line = strings.TrimSpace(line)
		b.WriteString(line[:min(len(line), 300)] + "\n")
	}
	return b.String()
}

// textOf is what a task says.
func textOf(t *replay.Task) string {
	var b strings.Builder
	for _, a := range t.Artifacts {
		b.WriteString(a.Text)
	}
	return b.String()
}

// TestSession records what people do, and plays it.
func TestSession(t *testing.T) {
	s := newSession(t, func(c *executor.Config) {
		c.Thread.ApprovalPolicy, c.Thread.Sandbox = appserver.OnRequest, appserver.WorkspaceWrite
		c.Thread.DynamicTools = []appserver.DynamicTool{{
			Type: "function", Name: "list_peers", Description: "lists", InputSchema: json.RawMessage(`{"type":"object","properties":{}}`),
		}}
		c.Tools = peers{}
	})
	s.say("a", "stream 40 8 1ms")
	asks := s.send("a", "", "escalate echo ran", false)
	s.until(asks.ID, "a question", in(a2a.TaskStateInputRequired))
	s.send("a", string(asks.ID), "yes", false)
	s.until(asks.ID, "its end", ended)
	s.say("b", "call list_peers {}")
	s.say("b", "say the password is hunter2-hunter2 now")
	hangs := s.send("c", "", "hang", false)
	s.until(hangs.ID, "its turn", in(a2a.TaskStateWorking))
	if _, err := s.engine.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: hangs.ID}); err != nil {
		t.Fatal(err)
	}
	s.stop()
	if got := s.record(); strings.Contains(got, "hunter2") || !strings.Contains(got, "the password is *** now") {
		t.Error("the secret is in the record")
	}
	report := s.replayed()
	var states []string
	for _, task := range report.Runs[0].Tasks {
		states = append(states, task.State)
	}
	if got := strings.Join(states, " "); got != "TASK_STATE_COMPLETED TASK_STATE_COMPLETED TASK_STATE_COMPLETED TASK_STATE_COMPLETED TASK_STATE_CANCELED" {
		t.Errorf("states: %s", got)
	}
	if got := textOf(report.Runs[0].Tasks[2]); !strings.Contains(got, "peer-1") {
		t.Errorf("the tool's result is not in %q", got)
	}
}

type peers struct{}

func (peers) Call(context.Context, executor.ToolCall) executor.ToolResult {
	return executor.ToolResult{Text: "peer-1"}
}

// TestCrash has codex die between turns, and in the middle of two: of one that runs
// again, and of one that had begun a command.
func TestCrash(t *testing.T) {
	s := newSession(t, nil)
	s.say("a", "remember blue-42")
	s.kill()
	s.say("a", "recall")
	asked := s.hangOnce()
	cut := s.send("a", "", "say cut", false)
	asked() // codex writes the message down before it asks the model
	s.kill()
	s.until(cut.ID, "its end", ended)
	runs := s.send("b", "", "run sleep 3600", false)
	progtest.WaitFor(t, "the command to run", func() bool { return progtest.Find(s.executor.Health().Child.Pid, "sleep 3600") != 0 })
	s.kill()
	s.until(runs.ID, "its end", ended)
	s.stop()
	report := s.replayed()
	if n := report.Runs[0].Children; n != 4 {
		t.Errorf("codex was started %d times", n)
	}
	all := report.Runs[0].Tasks
	if !strings.Contains(textOf(all[1]), "blue-42") || all[2].Now.Outcome != "completed" || all[3].Now.Outcome != "interrupted" {
		t.Errorf("tasks: %s", report)
	}
}

// hangOnce has the model hang at its next request. What it returns waits for that.
func (s *session) hangOnce() (asked func()) {
	hangs := make(chan struct{})
	var once sync.Once
	s.model.SetScript(func(turn *fakemodel.Turn) {
		first := false
		once.Do(func() { first = true })
		if !first {
			fakemodel.Keywords(turn)
			return
		}
		close(hangs)
		turn.Hang()
	})
	return func() {
		s.t.Helper()
		select {
		case <-hangs:
		case <-time.After(patience):
			s.t.Fatal("the model is not asked")
		}
	}
}

// kill kills codex, and waits until the executor knows: what it says to one that is dying
// may not be in the record any more.
func (s *session) kill() {
	s.t.Helper()
	restarts := s.executor.Health().Child.Restarts
	if err := syscall.Kill(s.executor.Health().Child.Pid, syscall.SIGKILL); err != nil {
		s.t.Fatal(err)
	}
	progtest.WaitFor(s.t, "its end to be known", func() bool { return s.executor.Health().Child.Restarts > restarts })
}

// TestSteered hands a message to a running turn, and stops the program in another,
// which the next one takes up.
func TestSteered(t *testing.T) {
	s := newSession(t, nil)
	asked := s.hangOnce()
	host := s.send("a", "", "say one", false)
	asked()
	s.send("a", string(host.ID), "say two", false)
	s.until(host.ID, "its end", ended)
	asked = s.hangOnce()
	s.send("a", "", "say three", false)
	queued := s.send("a", "", "say behind it", false)
	asked()
	s.stop()
	s.start()
	s.until(queued.ID, "its end", ended)
	s.stop()
	if report := s.replayed(); len(report.Runs) != 2 || len(report.Runs[1].Tasks) != 2 {
		t.Errorf("runs: %s", report)
	}
}

// TestAtOnce begins conversations at the same time: which gets which thread is chance.
func TestAtOnce(t *testing.T) {
	s := newSession(t, nil)
	var all []*a2a.Task
	for _, context := range []string{"a", "b", "c", "d"} {
		all = append(all, s.send(context, "", "remember "+context+"-1", false))
	}
	for _, task := range all {
		s.until(task.ID, "its end", ended)
	}
	for _, context := range []string{"a", "b", "c", "d"} {
		s.say(context, "recall")
	}
	s.stop()
	for i, task := range s.replayed().Runs[0].Tasks[4:] {
		if want := string(rune('a'+i)) + "-1"; !strings.Contains(textOf(task), want) {
			t.Errorf("the answer is %q, want %s", textOf(task), want)
		}
	}
}
