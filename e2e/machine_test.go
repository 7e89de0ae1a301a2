package e2e

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/coder/websocket"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// A joined machine is a program that runs commands, as a runtime sees it that has joined it by what the program says.
type joined struct {
	*progtest.Program
	t      *testing.T
	url    string
	header http.Header
	client *http.Client
}

// startMachine has a machine run until the end of the test.
func startMachine(t *testing.T, extra ...string) *joined {
	t.Helper()
	return joinMachine(t, progtest.Launch(t, binary, []string{"machine"}, append([]string{"RUNTIME_MACHINE_ADDR=127.0.0.1:0"}, extra...)...))
}

// joinMachine waits until a machine listens.
func joinMachine(t *testing.T, p *progtest.Program) *joined {
	t.Helper()
	p.AwaitListening()
	var said struct {
		Machine   string `json:"machine"`
		TokenFile string `json:"token_file"`
	}
	for line := range strings.Lines(p.Log()) {
		if strings.Contains(line, `"msg":"listening"`) {
			if err := json.Unmarshal([]byte(line), &said); err != nil {
				t.Fatal(err)
			}
		}
	}
	url, fingerprint, _ := strings.Cut(said.Machine, "#")
	token, err := os.ReadFile(said.TokenFile)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, VerifyConnection: func(s tls.ConnectionState) error {
		if wire.Fingerprint(s.PeerCertificates[0].Raw) != fingerprint {
			return errors.New("it is another machine")
		}
		return nil
	}}}
	t.Cleanup(transport.CloseIdleConnections)
	header := http.Header{"Authorization": {"Bearer " + strings.TrimSpace(string(token))}, wire.HeaderRuntime: {"r1"}, wire.HeaderEpoch: {"1"}}
	return &joined{Program: p, t: t, url: url, header: header, client: &http.Client{Transport: transport}}
}

// watch reads what the machine says of itself until the end of the test, and returns the first of it.
func (m *joined) watch() wire.Status {
	m.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, m.url+"/v1/watch", nil)
	if err != nil {
		m.t.Fatal(err)
	}
	r.Header = m.header
	res, err := m.client.Do(r)
	if err != nil {
		m.t.Fatal(err)
	}
	lines := bufio.NewReader(res.Body)
	first, err := lines.ReadBytes('\n')
	var s wire.Status
	if err := errors.Join(err, json.Unmarshal(first, &s)); err != nil {
		m.t.Fatalf("%d %s: %v", res.StatusCode, first, err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(io.Discard, lines)
		_ = res.Body.Close()
	}()
	m.t.Cleanup(func() {
		cancel()
		<-done
	})
	return s
}

// put says something to the machine.
func (m *joined) put(path string, body any) {
	m.t.Helper()
	text, _ := json.Marshal(body)
	r, err := http.NewRequestWithContext(m.t.Context(), http.MethodPut, m.url+path, strings.NewReader(string(text)))
	if err != nil {
		m.t.Fatal(err)
	}
	r.Header = m.header
	res, err := m.client.Do(r)
	if err != nil {
		m.t.Fatal(err)
	}
	answer, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if res.StatusCode >= 300 {
		m.t.Fatalf("%s: %d %s", path, res.StatusCode, answer)
	}
}

// leave runs a command that has left a process behind, in a session of its own, when it returns. Alive reports whether
// that runs.
func (m *joined) leave() (alive func() bool) {
	m.t.Helper()
	conn, res, err := websocket.Dial(m.t.Context(), m.url+"/v1/exec", &websocket.DialOptions{HTTPClient: m.client, HTTPHeader: m.header})
	if err != nil {
		m.t.Fatalf("%v %v", res, err)
	}
	m.t.Cleanup(func() { _ = conn.CloseNow() })
	mark := filepath.Join(m.Work, "pid")
	call := func(id int, method string, params object) {
		text, err := json.Marshal(object{"id": id, "method": method, "params": params})
		if err == nil {
			err = conn.Write(m.t.Context(), websocket.MessageText, text)
		}
		if err == nil {
			_, text, err = conn.Read(m.t.Context())
		}
		if err != nil || strings.Contains(string(text), `"error"`) {
			m.t.Fatalf("%s: %s %v", method, text, err)
		}
	}
	call(1, "initialize", object{"clientName": "e2e"})
	if err := conn.Write(m.t.Context(), websocket.MessageText, []byte(`{"method":"initialized","params":{}}`)); err != nil {
		m.t.Fatal(err)
	}
	call(2, "process/start", object{
		"processId": "p1", "argv": []string{"/bin/sh", "-c", "setsid sh -c 'echo $$ > pid.tmp; mv pid.tmp pid; exec sleep 600' & wait"},
		"cwd": "file://" + m.Work, "env": object{}, "tty": false, "pipeStdin": false, "arg0": nil,
		"envPolicy": object{"inherit": "all", "ignoreDefaultExcludes": true, "exclude": []string{}, "set": object{}, "includeOnly": []string{}},
	})
	pid := 0
	progtest.WaitFor(m.t, "the command", func() bool {
		text, err := os.ReadFile(mark)
		return err == nil && json.Unmarshal(text, &pid) == nil && pid > 0
	})
	return func() bool { return progtest.Alive(pid) }
}

// TestMachineKilled: what its commands have left is ended by its next life.
func TestMachineKilled(t *testing.T) {
	m := startMachine(t, "RUNTIME_MACHINE_LABELS=gpu=yes, arch=arm64", "RUNTIME_MACHINE_NAME=big")
	s := m.watch()
	if s.Name != "big" || s.Labels["arch"] != "arm64" || s.Trouble != "" || s.Codex != codextest.Version(t) || len(s.Roots) != 1 || s.Roots[0] != m.Work {
		t.Fatalf("it says of itself %+v", s)
	}
	alive := m.leave()
	m.Kill()
	if !alive() {
		t.Fatal("the command was gone with the machine, so that this shows nothing")
	}
	next := joinMachine(t, m.Relaunch())
	progtest.WaitFor(t, "what was left to be gone", func() bool { return !alive() })
	if again := next.watch(); again.Life == s.Life || again.Exec != 0 {
		t.Errorf("its next life says %+v", again)
	}
	next.leave()
}

// TestMachineStops: the first SIGTERM lets turns go on, the second does not; nothing is left either way.
func TestMachineStops(t *testing.T) {
	m := startMachine(t)
	m.watch()
	m.put("/v1/turns/t1", wire.Turn{})
	alive := m.leave()
	if log, code := m.Rival(); code != 1 || !strings.Contains(log, "in use by another runtime machine") {
		t.Errorf("a second one ends with %d, and says %s", code, log)
	}
	m.Signal(syscall.SIGTERM)
	progtest.WaitFor(t, "the drain", func() bool { return strings.Contains(m.Log(), "this machine drains") })
	if !alive() {
		t.Error("the first SIGTERM has ended the command of a turn")
	}
	m.Signal(syscall.SIGTERM)
	if code := m.ExitCode(); code != 0 || alive() {
		t.Errorf("it ends with %d, and the command lives: %v", code, alive())
	}
}

// TestMachineIdentity is printed, and stays.
func TestMachineIdentity(t *testing.T) {
	m := startMachine(t)
	token, code := m.Command("machine", "token")
	if want := "Bearer " + strings.TrimSpace(token); code != 0 || m.header.Get("Authorization") != want {
		t.Errorf("the token is %q, %d", token, code)
	}
	fingerprint, code := m.Command("machine", "fingerprint")
	if code != 0 || !strings.Contains(m.Log(), "#"+strings.TrimSpace(fingerprint)) {
		t.Errorf("the fingerprint is %q, %d", fingerprint, code)
	}
	m.Kill()
	joinMachine(t, m.Relaunch()).watch()
	if strings.Contains(m.Log(), strings.TrimSpace(token)) {
		t.Error("the token stands in the log")
	}
	for _, name := range []string{"token", "key.pem"} {
		if info, err := os.Stat(filepath.Join(m.State, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}
