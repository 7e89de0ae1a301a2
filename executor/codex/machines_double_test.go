package codex_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/place"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet/link"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/commands"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// A machine is codex's own exec-server in a process of its own, and the way there.
type machine struct {
	t     *testing.T
	name  string
	dir   string // of its conversations
	cmd   *exec.Cmd
	addr  string
	link  *link.Link
	token string

	up   context.Context // ends with its loss
	lose context.CancelCauseFunc
}

func newMachine(t *testing.T, name string) *machine {
	t.Helper()
	m := &machine{t: t, name: name, dir: codextest.Dir(t, name)}
	m.up, m.lose = context.WithCancelCause(t.Context())
	m.cmd = exec.Command(codextest.Bin(t), "exec-server", "--listen", "ws://127.0.0.1:0", "--concurrent-requests", "64")
	m.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + m.dir, "CODEX_HOME=" + codextest.Home(t), "MACHINE=" + name}
	out, err := m.cmd.StdoutPipe()
	if err == nil {
		err = m.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	m.addr = strings.TrimSpace(strings.TrimPrefix(line, "ws://"))
	if m.link, err = link.Listen(m, m, "/", codextestLog(t)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.link.Close)
	m.token = m.link.Token()
	return m
}

// kill ends it as SIGKILL does, and is what a fleet does that sees it.
func (m *machine) kill() {
	_ = m.cmd.Process.Kill()
	_ = m.cmd.Wait()
	m.lose(&place.LostError{Machine: m.name, Why: "it has died"})
	if m.link != nil {
		m.link.Refuse("machine " + m.name + " has died")
	}
}

// Dial implements [link.Dialer], as does Sign.
func (m *machine) Dial(ctx context.Context) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", m.addr)
}

func (m *machine) Sign(*http.Request) {}

// Admit implements [link.Keeper].
func (m *machine) Admit(http.Header) bool { return true }

// machines are the places of the tests: each conversation is on the machine that has its name, or on the next.
type machines struct {
	mu   sync.Mutex
	on   []*machine
	left []string

	silent bool // they do not say what runs on them
	dies   bool // it is not said what has become of them before they die
}

// Take implements [place.Machines], as does Reset.
func (m *machines) Take(_ context.Context, _, _ string) (place.Place, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, at := range m.on {
		if at.up.Err() == nil {
			return placeOn{m, at}, nil
		}
	}
	return nil, &place.NoneError{Why: "no machine is up"}
}

func (m *machines) Reset(context.Context) {}

func (m *machines) Abandon(string) {}

type placeOn struct {
	of *machines
	at *machine
}

func (p placeOn) On() place.Environment {
	return place.Environment{Machine: p.at.name, ID: "machine-" + p.at.name, URL: p.at.link.URL(), Token: p.at.token}
}
func (p placeOn) Dir() string                 { return p.at.dir }
func (p placeOn) Within(folder string) string { return folder }
func (p placeOn) News() string                { return "" }
func (p placeOn) Hint() string                { return "" }
func (p placeOn) Read() func(context.Context, string) (io.ReadCloser, int64, time.Time, error) {
	return nil
}
func (p placeOn) Bring(_ context.Context, text string) (string, error) { return text, nil }
func (p placeOn) Lost() context.Context                                { return p.at.up }
func (p placeOn) Stands(ctx context.Context) error                     { return p.stands(ctx) }
func (p placeOn) Begin(string)                                         {}
func (p placeOn) Leave(title string) {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	p.of.left = append(p.of.left, title)
}

func (p placeOn) stands(ctx context.Context) error {
	if !p.of.dies {
		return nil
	}
	select {
	case <-p.at.up.Done():
		return context.Cause(p.at.up)
	case <-ctx.Done():
		return nil
	}
}

// Commands are read from this machine, which it is.
func (p placeOn) Commands(ctx context.Context) ([]commands.Command, error) {
	if p.at.up.Err() != nil {
		return nil, context.Cause(p.at.up)
	}
	if p.of.silent {
		return nil, errors.New("it is silent")
	}
	return commands.Find(ctx, func(commands.Command) bool { return true }), nil
}

func (p placeOn) End(_ context.Context, all []commands.Command) (err error) {
	for _, c := range all {
		err = errors.Join(err, c.Kill())
	}
	return err
}
