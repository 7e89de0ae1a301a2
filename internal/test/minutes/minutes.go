// Package minutes times what a new user does until the first answer, and has what the terminal
// shows meanwhile, line by line with its second. The tests that use it run in make first-minutes,
// which the night does: a bar in seconds is none for a machine that does other things as well.
package minutes

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// Bar is what each way has to the first answer.
const Bar = 5 * time.Minute

var (
	wanted = flag.Bool("first-minutes", false, "run the tests that time a new user's first minutes")
	warm   = flag.Bool("warm", false, "with the caches of Go and npm that this machine's user has")
)

// Mark leaves a test to make first-minutes.
func Mark(tb testing.TB) {
	tb.Helper()
	if !*wanted {
		tb.Skip("make first-minutes runs it")
	}
}

// Report says in one line how long a way took, and fails the test that is over the bar.
func Report(tb testing.TB, way string, took time.Duration, how string) {
	tb.Helper()
	fmt.Printf("first-minutes %s: %.0f s to the answer (bar %.0f s), on %d cores; %s\n", way, took.Seconds(), Bar.Seconds(), runtime.NumCPU(), how)
	if took > Bar {
		tb.Errorf("%s takes %s to the first answer, more than %s", way, took.Round(time.Second), Bar)
	}
}

// A Terminal is a shell in the home of a user who has nothing yet: no caches, no settings, and
// of the environment only PATH.
type Terminal struct {
	Home string

	tb    testing.TB
	began time.Time
	ended chan struct{}

	mu    sync.Mutex // guards what follows
	shown bytes.Buffer
	last  time.Duration // when that was
	quiet time.Duration // the longest time without a line
}

// Home makes the home of a new user, which goes with the test.
func Home(tb testing.TB) string {
	tb.Helper()
	home := codextest.Dir(tb, "newcomer")
	tb.Cleanup(func() { _ = exec.Command("chmod", "-R", "u+w", home).Run() }) // Go's modules are read-only
	return home
}

// Caches are the settings by which a new user has, or has not, fetched and compiled such things before,
// and which of both it is.
func Caches(tb testing.TB) (settings []string, which string) {
	tb.Helper()
	if !*warm {
		return nil, "no caches of Go and npm"
	}
	for name, command := range map[string][]string{
		"GOCACHE": {"go", "env", "GOCACHE"}, "GOMODCACHE": {"go", "env", "GOMODCACHE"}, "npm_config_cache": {"npm", "config", "get", "cache"},
	} {
		out, err := exec.CommandContext(tb.Context(), command[0], command[1:]...).Output()
		if err != nil {
			tb.Fatal(err)
		}
		settings = append(settings, name+"="+strings.TrimSpace(string(out)))
	}
	return settings, "with caches of Go and npm"
}

// stranger is a user who owns nothing on a machine.
const stranger = 65534

// StrangersHome is [Home] for a user to whom nothing else on this machine belongs, and what npm
// installs for all into neither: by a user of that kind if the tests are root's, else by a setting.
func StrangersHome(tb testing.TB) (home string, settings []string) {
	tb.Helper()
	home = Home(tb)
	if os.Geteuid() != 0 {
		return home, []string{"npm_config_prefix=" + home + "/.local"}
	}
	if err := os.Chown(home, stranger, stranger); err != nil {
		tb.Fatal(err)
	}
	return home, nil
}

// Type has bash read a text in that home, as its owner, until the test ends. Settings are NAME=value.
func Type(tb testing.TB, home, text string, settings ...string) *Terminal {
	tb.Helper()
	t := &Terminal{Home: home, tb: tb, began: time.Now(), ended: make(chan struct{})}
	cmd := exec.Command("bash", "--norc", "--noprofile")
	cmd.Dir, cmd.Stdin = home, strings.NewReader(text)
	cmd.Env = append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, settings...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var owner syscall.Stat_t
	if err := syscall.Stat(home, &owner); err != nil {
		tb.Fatal(err)
	}
	if int(owner.Uid) != os.Geteuid() {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	go func() {
		defer close(t.ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			t.show(lines.Text())
		}
		_ = cmd.Wait()
	}()
	tb.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
		late := time.AfterFunc(time.Minute, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
		<-t.ended
		late.Stop()
		tb.Logf("the terminal shows\n%s", t.Shown())
	})
	return t
}

func (t *Terminal) show(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Since(t.began)
	t.quiet, t.last = max(t.quiet, now-t.last), now
	fmt.Fprintf(&t.shown, "%6.1f %s\n", now.Seconds(), line)
}

// Shown is what the terminal has shown, each line behind its second.
func (t *Terminal) Shown() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.shown.String()
}

// Took is how long ago the text was typed.
func (t *Terminal) Took() time.Duration { return time.Since(t.began) }

// Quiet says how long the terminal has shown nothing at the longest.
func (t *Terminal) Quiet() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return fmt.Sprintf("the terminal silent for %.0f s at the longest", t.quiet.Seconds())
}

// Await waits until the terminal has shown words; it fails when the shell has ended, or twice the
// bar has passed.
func (t *Terminal) Await(words string) {
	t.tb.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !strings.Contains(t.Shown(), words) {
		select {
		case <-t.ended:
			t.tb.Fatalf("the shell has ended without %q", words)
		case <-tick.C:
		}
		if t.Took() > 2*Bar {
			t.tb.Fatalf("after %s there is no %q", 2*Bar, words)
		}
	}
}
