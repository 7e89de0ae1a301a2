package appserver_test

import (
	"bufio"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakecodex"
)

func TestChildDeathEndsEveryWaiter(t *testing.T) {
	c := start(t, "no-answer account/read")
	id, events := thread(t, c)
	_, idle := thread(t, c)
	pending := make(chan error, 1)
	go func() {
		_, err := c.AccountRead(context.Background(), false)
		pending <- err
	}()
	idleEnds := make(chan error, 1)
	go func() {
		_, err := drain(t, idle)
		idleEnds <- err
	}()
	turn(t, c, id, "!die 3")

	all, err := drain(t, events)
	if got := text(t, all); got != "half a" {
		t.Errorf("text before the end = %q: what the child wrote must be delivered before its end", got)
	}
	for name, err := range map[string]error{"Next": err, "Next of an idle thread": <-idleEnds, "Call": <-pending, "Err": wait(c)} {
		if ended := exit(t, err, "exit status 3"); !strings.Contains(ended.Stderr, "panicked in mid-turn") || ended.Cause != nil {
			t.Errorf("%s = %v, want the last words and no cause of ours", name, err)
		}
	}
	if _, err := c.AccountRead(t.Context(), false); err == nil {
		t.Error("Call after the end succeeded")
	} else {
		exit(t, err, "exit status 3")
	}
	exit(t, later(t, c), "exit status 3")
}

// later subscribes after the end.
func later(t *testing.T, c *appserver.Client) error {
	s := c.Subscribe("another")
	defer s.Close()
	_, err := s.Next(patient(t))
	return err
}

func wait(c *appserver.Client) error {
	<-c.Done()
	return c.Err()
}

// The authority on whether a tool had started is stdout read to its end.
func TestToolStartIsSeenBeforeDeath(t *testing.T) {
	for range 30 {
		c := start(t, "")
		id, events := thread(t, c)
		turn(t, c, id, "!die-tool 3")
		all, err := drain(t, events)
		exit(t, err, "exit status 3")
		last := all[len(all)-1]
		if item := decode[appserver.ItemNote](t, last).Item; item.Type != appserver.ItemCommandExecution {
			t.Fatalf("the last notification before the end is %s, want the start of a command", last.Method)
		}
	}
}

func TestMuteChildIsEnded(t *testing.T) {
	c := start(t, "no-answer account/read")
	id, events := thread(t, c)
	turn(t, c, id, "!mute")
	all, err := drain(t, events)
	if ended := exit(t, err, "signal: killed"); ended.Cause == nil {
		t.Error("no cause")
	}
	if got := text(t, all); got != "half a" {
		t.Errorf("text = %q", got)
	}
}

func TestGrandchildHoldingStdoutDelaysNothing(t *testing.T) {
	for _, where := range []string{"session", "group"} {
		t.Run(where, func(t *testing.T) {
			c := start(t, "")
			id, events := thread(t, c)
			turn(t, c, id, "!orphan 3 "+where)
			began := time.Now()
			all, err := drain(t, events)
			ended := exit(t, err, "exit status 3")
			if got := text(t, all); got != "last words" {
				t.Errorf("text = %q", got)
			}
			if took := time.Since(began); took > 15*time.Second {
				t.Errorf("the end took %v", took)
			}
			holder := holderPid(t, ended.Stderr)
			if where == "session" {
				if err := syscall.Kill(holder, syscall.SIGKILL); err != nil {
					t.Errorf("the grandchild in a session of its own: %v", err)
				}
				return
			}
			<-c.Done()
			groupIsGone(t, c.Pid())
		})
	}
}

// A grandchild that does not read holds up the writer no longer than the child lives.
func TestGrandchildHoldingStdinDelaysNothing(t *testing.T) {
	c := start(t, "", func(cfg *appserver.Config) { cfg.WriteTimeout = time.Hour })
	id, events := thread(t, c)
	turn(t, c, id, "!orphan 3 session 300")
	collect(t, events, appserver.NoteAgentMessageDelta)
	ended := make(chan error, 3)
	for range cap(ended) { // the child still reads the first of them
		go func() {
			ended <- c.Call(context.Background(), "account/read", map[string]string{"filler": strings.Repeat("x", 1<<20)}, nil)
		}()
	}
	began := time.Now()
	var last *appserver.ExitError
	for range cap(ended) {
		last = exit(t, <-ended, "exit status 3")
	}
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("the end took %v", took)
	}
	if err := syscall.Kill(holderPid(t, last.Stderr), syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	<-c.Done()
}

func holderPid(t *testing.T, stderr string) int {
	match := regexp.MustCompile(`holder (\d+)`).FindStringSubmatch(stderr)
	if match == nil {
		t.Fatalf("no holder in %q", stderr)
	}
	pid, err := strconv.Atoi(match[1])
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// isZombie reports whether a process has ended and only waits for init.
func isZombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || strings.Contains(string(stat), ") Z ") || strings.Contains(string(stat), ") X ")
}

func TestDeafChildIsEnded(t *testing.T) {
	c := start(t, "", func(cfg *appserver.Config) { cfg.WriteTimeout = 200 * time.Millisecond })
	id, events := thread(t, c)
	turn(t, c, id, "!deaf")
	collect(t, events, appserver.NoteTurnCompleted)

	big := strings.Repeat("x", 1<<20) // more than a pipe holds
	ended := make(chan error, 3)
	for range cap(ended) {
		go func() { ended <- c.Call(context.Background(), "account/read", map[string]string{"filler": big}, nil) }()
	}
	for range cap(ended) {
		if err := exit(t, <-ended, "signal: killed"); !strings.Contains(err.Error(), "stopped reading its input") {
			t.Errorf("Call = %v", err)
		}
	}
}

// A caller is not held up by a deaf child until the child is ended.
func TestCallToDeafChildEndsWithItsContext(t *testing.T) {
	c := start(t, "", func(cfg *appserver.Config) { cfg.WriteTimeout = time.Hour })
	id, events := thread(t, c)
	turn(t, c, id, "!deaf")
	collect(t, events, appserver.NoteTurnCompleted)
	for range 3 {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errEnough)
		err := c.Call(ctx, "account/read", map[string]string{"filler": strings.Repeat("x", 1<<20)}, nil)
		cancel()
		if !errors.Is(err, errEnough) {
			t.Errorf("Call = %v, want the cause of its context", err)
		}
	}
	began := time.Now()
	c.Kill()
	<-c.Done()
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("Kill took %v: the writer holds on", took)
	}
}

var errEnough = errors.New("enough")

func TestClose(t *testing.T) {
	tests := map[string]struct {
		script, state string
		grace         time.Duration // of a step that does not help it is waited out
		fails         bool
	}{
		"reads-the-end":   {"", "exit status 0", time.Minute, false},
		"is-slow":         {"slow-end 250", "exit status 0", time.Minute, false},
		"ignores-the-end": {"ignore-end", "signal: terminated", 4 * time.Second, false},
		"ignores-both":    {"ignore-end; ignore-term", "signal: killed", 500 * time.Millisecond, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t, test.script, func(cfg *appserver.Config) { cfg.Grace = test.grace })
			if err := c.Close(); (err != nil) != test.fails {
				t.Errorf("Close = %v", err)
			}
			if ended := exit(t, c.Err(), test.state); !errors.Is(ended, appserver.ErrClosed) {
				t.Errorf("Err = %v, want ErrClosed as its cause", ended)
			}
			if err := c.Close(); err != nil {
				t.Errorf("second Close = %v", err)
			}
			if err := c.Call(t.Context(), "account/read", nil, nil); !errors.Is(err, appserver.ErrClosed) {
				t.Errorf("Call after Close = %v", err)
			}
		})
	}
}

func TestKill(t *testing.T) {
	c := start(t, "ignore-end; ignore-term")
	c.Kill()
	c.Kill()
	if ended := exit(t, wait(c), "signal: killed"); !errors.Is(ended, appserver.ErrKilled) {
		t.Errorf("Err = %v", ended)
	}
}

// At whatever moment the child is killed, everybody is told, and nothing is left.
func TestKillUnderLoad(t *testing.T) {
	for range 15 {
		c := start(t, "")
		var wg sync.WaitGroup
		for range 6 {
			id, events := thread(t, c)
			wg.Go(func() {
				for {
					_, err := c.TurnStart(context.Background(), appserver.TurnStartParams{ThreadID: id, Input: []appserver.UserInput{appserver.Text("a b c d e f")}})
					for err == nil {
						var n appserver.Notification
						if n, err = events.Next(context.Background()); n.Method == appserver.NoteTurnCompleted {
							break
						}
					}
					if err != nil {
						exit(t, err, "signal: killed")
						return
					}
				}
			})
		}
		time.Sleep(time.Duration(rand.IntN(30)) * time.Millisecond)
		if err := syscall.Kill(c.Pid(), syscall.SIGKILL); err != nil {
			t.Error(err)
		}
		wg.Wait()
		<-c.Done()
		if ours, library := c.PendingCalls(); ours != 0 || library != 0 {
			t.Errorf("pending calls: %d of ours, %d of the library", ours, library)
		}
	}
}

func TestStartFails(t *testing.T) {
	tests := map[string]struct {
		script string
		change func(*appserver.Config)
		want   string
		exit   bool
	}{
		"no-binary":     {"", func(cfg *appserver.Config) { cfg.Bin = "/nonexistent/codex" }, "CODEX_BIN", false},
		"no-directory":  {"", func(cfg *appserver.Config) { cfg.Dir = "/nonexistent" }, "working directory", false},
		"not-a-program": {"", func(cfg *appserver.Config) { cfg.Bin = "/etc/passwd" }, "executable", false},
		"no-answer":     {"no-answer initialize", func(cfg *appserver.Config) { cfg.StartTimeout = 300 * time.Millisecond }, "not answered in time", false},
		"refused":       {"refuse initialize Not today", nil, "Not today", false},
		"exits":         {"exit 1", nil, "CODEX_HOME points to a path that does not exist", true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var cfg appserver.Config
			cfg.Bin, cfg.Env = fakecodex.Command(test.script)
			if test.change != nil {
				test.change(&cfg)
			}
			_, err := appserver.Start(patient(t), cfg)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("Start = %v, want %q", err, test.want)
			}
			if _, ok := errors.AsType[*appserver.StartError](err); ok == test.exit {
				t.Errorf("Start = %T", err)
			}
		})
	}
}

func TestStartEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, errEnough)
	defer cancel()
	var cfg appserver.Config
	cfg.Bin, cfg.Env = fakecodex.Command("no-answer initialize")
	if _, err := appserver.Start(ctx, cfg); !errors.Is(err, errEnough) {
		t.Errorf("Start = %v", err)
	}
}

const parentEnv = "APPSERVER_TEST_PARENT"

// beParent starts a child, says its number, and waits to be killed.
func beParent() {
	var cfg appserver.Config
	cfg.Bin, cfg.Env = fakecodex.Command("ignore-end; ignore-term")
	c, err := appserver.Start(context.Background(), cfg)
	if err != nil {
		panic(err)
	}
	println(c.Pid()) // on stderr
	<-c.Done()
}

func TestChildDiesWithUs(t *testing.T) {
	bin, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.CommandContext(patient(t), bin)
	parent.Env = append(os.Environ(), parentEnv+"=1")
	stderr, err := parent.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stderr).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // killed
	for ctx := patient(t); syscall.Kill(pid, 0) == nil && !isZombie(pid); {
		if ctx.Err() != nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatal("the child survived the death of its parent")
		}
		time.Sleep(5 * time.Millisecond)
	}
}
