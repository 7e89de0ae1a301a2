package machine_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"

	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
	"github.com/Molecule-AI/molecule-codex-runtime/machine"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const token = "a-token-of-the-tests-1234"

// A rig is a machine that runs in the process of the tests.
type rig struct {
	t     *testing.T
	cfg   machine.Config
	url   string
	token string
	quit  chan struct{}
	ended chan struct{} // closed when Run has returned err
	err   error
	kill  context.CancelFunc
	log   *lockedBuffer
}

type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// start has a machine run until the end of the test.
func start(t *testing.T, changes ...func(*machine.Config)) *rig {
	t.Helper()
	home, state := codextest.Dir(t, "user"), codextest.Dir(t, "state")
	cfg := machine.Config{
		Addr: "127.0.0.1:0", Name: "m1", Root: codextest.Dir(t, "root"), Turns: 2, Drain: time.Minute, State: state, Home: filepath.Join(state, "codex"),
		Token: token, Bin: codextest.Bin(t), Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}, Sandbox: "danger-full-access", Version: "test",
	}
	for _, change := range changes {
		change(&cfg)
	}
	return run(t, cfg)
}

// run is start with all that there is to say.
func run(t *testing.T, cfg machine.Config) *rig {
	t.Helper()
	g := &rig{t: t, token: token, quit: make(chan struct{}), ended: make(chan struct{}), log: &lockedBuffer{}}
	joined := make(chan machine.Join, 1)
	cfg.Quit, cfg.Joined, cfg.Logger = g.quit, func(j machine.Join) { joined <- j }, slog.New(slog.NewTextHandler(g.log, nil))
	g.cfg = cfg
	ctx, cancel := context.WithCancel(context.Background())
	g.kill = cancel
	go func() {
		defer close(g.ended)
		g.err = machine.Run(ctx, cfg)
	}()
	t.Cleanup(func() {
		g.stop()
		if t.Failed() {
			t.Logf("the log of the machine:\n%s", g.log)
		}
	})
	select {
	case j := <-joined:
		g.url, _, _ = strings.Cut(j.URL, "#")
	case <-g.ended:
		t.Fatalf("the machine has ended: %v\n%s", g.err, g.log)
	case <-time.After(progtest.Patience):
		t.Fatal("the machine does not listen")
	}
	return g
}

func (g *rig) stop() {
	g.kill()
	<-g.ended
}

// A tenant is a process of a runtime that uses the machine.
type tenant struct {
	g       *rig
	runtime string
	epoch   int64
	client  *http.Client
}

func (g *rig) tenant(runtime string, epoch int64) *tenant {
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	g.t.Cleanup(transport.CloseIdleConnections)
	return &tenant{g: g, runtime: runtime, epoch: epoch, client: &http.Client{Transport: transport}}
}

func (c *tenant) header(shown string) http.Header {
	return http.Header{"Authorization": {"Bearer " + shown}, wire.HeaderRuntime: {c.runtime}, wire.HeaderEpoch: {strconv.FormatInt(c.epoch, 10)}}
}

// do asks the machine, and returns the status of the answer and its body, or the code of its refusal.
func (c *tenant) do(method, path string, body, to any) (status int, code string) {
	c.g.t.Helper()
	var text io.Reader
	switch b := body.(type) {
	case nil:
	case []byte:
		text = bytes.NewReader(b)
	default:
		data, err := json.Marshal(b)
		if err != nil {
			c.g.t.Fatal(err)
		}
		text = bytes.NewReader(data)
	}
	r, err := http.NewRequestWithContext(c.g.t.Context(), method, c.g.url+path, text)
	if err != nil {
		c.g.t.Fatal(err)
	}
	r.Header = c.header(c.g.token)
	res, err := c.client.Do(r)
	if err != nil {
		c.g.t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		c.g.t.Fatal(err)
	}
	var refusal wire.Refusal
	if res.StatusCode >= 400 {
		if err := json.Unmarshal(got, &refusal); err != nil || refusal.Message == "" {
			c.g.t.Fatalf("%s %s: %d %q: no refusal", method, path, res.StatusCode, got)
		}
		return res.StatusCode, refusal.Code
	}
	switch v := to.(type) {
	case nil:
	case *[]byte:
		*v = got
	default:
		if err := json.Unmarshal(got, to); err != nil {
			c.g.t.Fatalf("%s %s: %q: %v", method, path, got, err)
		}
	}
	return res.StatusCode, ""
}

// must is do for what is not refused.
func (c *tenant) must(method, path string, body, to any) {
	c.g.t.Helper()
	if status, code := c.do(method, path, body, to); code != "" {
		c.g.t.Fatalf("%s %s: %d %s", method, path, status, code)
	}
}

// A watch is what a tenant sees of the machine.
type watch struct {
	t     *testing.T
	lines chan wire.Status // closed at its end
	end   context.CancelFunc
}

// watch watches the machine until end is called.
func (c *tenant) watch() *watch {
	c.g.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c.g.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.g.url+"/v1/watch", nil)
	if err != nil {
		c.g.t.Fatal(err)
	}
	r.Header = c.header(c.g.token)
	res, err := c.client.Do(r)
	if err != nil {
		c.g.t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		c.g.t.Fatalf("watch: %d %s", res.StatusCode, text)
	}
	w := &watch{t: c.g.t, lines: make(chan wire.Status, 1000), end: cancel}
	go func() {
		defer close(w.lines)
		defer res.Body.Close()
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			var s wire.Status
			if json.Unmarshal(lines.Bytes(), &s) == nil {
				w.lines <- s
			}
		}
	}()
	return w
}

// until waits for a status that is as it has to be.
func (w *watch) until(what string, is func(wire.Status) bool) wire.Status {
	w.t.Helper()
	late := time.After(progtest.Patience)
	for {
		select {
		case s, ok := <-w.lines:
			if !ok {
				w.t.Fatalf("the watch has ended before %s", what)
			}
			if is(s) {
				return s
			}
		case <-late:
			w.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// ended waits for the end of the watch.
func (w *watch) ended() {
	w.t.Helper()
	late := time.After(progtest.Patience)
	for {
		select {
		case _, ok := <-w.lines:
			if !ok {
				return
			}
		case <-late:
			w.t.Fatal("the watch does not end")
		}
	}
}

// command is a program that runs for long, in a file of its own: by that it is known.
func (g *rig) command(name string) (argv []string, alive func() bool) {
	g.t.Helper()
	path := filepath.Join(g.cfg.Root, name)
	sleep, err := os.ReadFile("/bin/sleep")
	if err == nil {
		err = os.WriteFile(path, sleep, 0o755)
	}
	if err != nil {
		g.t.Fatal(err)
	}
	return []string{path, "600"}, func() bool { return len(running(path)) > 0 }
}

// running are the processes of a program.
func running(path string) (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, exe := range all {
		if to, err := os.Readlink(exe); err == nil && to == path {
			pid, _ := strconv.Atoi(strings.Split(exe, "/")[2])
			if progtest.Alive(pid) {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

func wait(t *testing.T, what string, ok func() bool) {
	t.Helper()
	progtest.WaitFor(t, what, ok)
}

// leave has a program run until the end of the test.
func leave(t *testing.T, argv []string, env string) {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = []string{env}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
}
