package tryout_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet/tryout"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// A double is a machine, with an exec-server that answers as a test says.
type double struct {
	*httptest.Server
	watch, place error
	status       int                                   // of the connection to the exec-server, if it is refused
	started      func(asked string) (answers []string) // what process/start is answered with
	asked        string
	left         bool // the watch has ended
}

func machine(t *testing.T) *double {
	d := &double{}
	d.Server = httptest.NewServer(d)
	t.Cleanup(d.Close)
	return d
}

func (d *double) Dial(ctx context.Context) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "tcp", d.Listener.Addr().String())
}

func (d *double) Sign(r *http.Request) { r.Header.Set("Authorization", "Bearer machine") }

func (d *double) Watch(ctx context.Context, _ time.Duration, tell func(wire.Status)) error {
	if d.watch != nil {
		return d.watch
	}
	tell(wire.Status{Name: "m1", Codex: "0.169.0", Roots: []string{"/root of it"}})
	tell(wire.Status{Name: "m1"})
	<-ctx.Done()
	d.left = true
	return ctx.Err()
}

func (d *double) Place(_ context.Context, _ string, want wire.Want) (wire.Place, error) {
	return wire.Place{Dir: want.Dir + "/there"}, d.place
}

// ServeHTTP is the exec-server.
func (d *double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if d.status != 0 || r.URL.Path != "/v1/exec" || r.Header.Get("Authorization") != "Bearer machine" {
		w.WriteHeader(max(d.status, http.StatusUnauthorized))
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	for {
		_, text, err := conn.Read(r.Context())
		if err != nil {
			return
		}
		var m struct {
			ID     int
			Method string
			Params json.RawMessage
		}
		_ = json.Unmarshal(text, &m)
		var answers []string
		switch m.Method {
		case "initialize":
			answers = []string{`{"id":%d,"result":{"sessionId":"s"}}`}
		case "process/start":
			d.asked = string(m.Params)
			answers = d.started(d.asked)
		}
		for _, answer := range answers {
			if answer == hangsUp {
				return
			}
			_ = conn.Write(r.Context(), websocket.MessageText, []byte(strings.Replace(answer, "%d", fmt.Sprint(m.ID), 1)))
		}
	}
}

const hangsUp = "it hangs up"

var ran = []string{
	`{"method":"process/output","params":{"processId":"trial","seq":1,"stream":"stdout","chunk":"d2U="}}`,
	`{"id":%d,"result":{"processId":"trial","sandboxType":"linuxSeccomp"}}`,
	`{"method":"process/output","params":{"processId":"trial","seq":2,"stream":"stdout","chunk":"bGwK"}}`,
	`{"method":"process/exited","params":{"processId":"trial","seq":3,"exitCode":3}}`,
	`{"method":"process/closed","params":{"processId":"trial","seq":4}}`,
}

// TestTry: the command is asked for in the folder that conversations have, in the sandbox that they have.
func TestTry(t *testing.T) {
	const sandboxed = `"sandbox":{"cwd":"file:///root%20of%20it","permissions":{"file_system":{"entries":[{"access":"read","path":{"type":"special","value":{"kind":"root"}}}`
	for name, c := range map[string]struct {
		want tryout.Want
		dir  string
		says []string
		not  string
	}{
		"shared": {tryout.Want{Files: wire.FilesShared, Dir: "/work", Sandbox: "workspace-write"}, "/work/there", []string{`"cwd":"file:///work/there"`, `{"access":"write","path":{"path":"file:///work/there","type":"path"}}`}, "danger"},
		"git":    {tryout.Want{Files: wire.FilesGit, Dir: "/work", Sandbox: "read-only"}, "/root of it", []string{sandboxed}, `"write"`},
		"none":   {tryout.Want{Files: wire.FilesGit, Sandbox: "danger-full-access"}, "/root of it", []string{`"cwd":"file:///root%20of%20it"`}, "sandbox"},
	} {
		m := machine(t)
		m.started = func(string) []string { return ran }
		found, err := tryout.Try(t.Context(), m, c.want)
		if err != nil || found.Status.Codex != "0.169.0" || found.Dir != c.dir || !reflect.DeepEqual(found.Ran, tryout.Ran{Sandbox: "linuxSeccomp", Exit: 3, Output: "well"}) {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
		for _, says := range c.says {
			if !strings.Contains(m.asked, says) || strings.Contains(m.asked, c.not) {
				t.Errorf("%s: it was asked %s", name, m.asked)
			}
		}
		if !m.left {
			t.Errorf("%s: the watch goes on", name)
		}
	}
}

// TestFailures: it is said how far the trial came.
func TestFailures(t *testing.T) {
	refuses := func(code int) func(*double) {
		return func(d *double) {
			d.started = func(string) []string {
				return []string{fmt.Sprintf(`{"id":%%d,"error":{"code":%d,"message":"no"}}`, code)}
			}
		}
	}
	gone := errors.New("gone")
	for name, c := range map[string]struct {
		change        func(*double)
		at            tryout.Stage
		words         string
		notUnderstood bool
	}{
		"not reached":    {func(d *double) { d.watch = gone }, tryout.Reach, "gone", false},
		"no place":       {func(d *double) { d.place = gone }, tryout.Place, "gone", false},
		"no exec-server": {func(d *double) { d.status = 503 }, tryout.Command, "codex exec-server is not reached there (HTTP 503)", false},
		"refused":        {refuses(-32603), tryout.Command, "no", false},
		"another form":   {refuses(-32602), tryout.Command, "no", true},
		"broken off":     {func(d *double) { d.started = func(string) []string { return []string{hangsUp} } }, tryout.Command, "codex exec-server does not answer", false},
		"no JSON":        {func(d *double) { d.started = func(string) []string { return []string{"<html>"} } }, tryout.Command, "what is no JSON", false},
	} {
		m := machine(t)
		c.change(m)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		_, err := tryout.Try(ctx, m, tryout.Want{Files: wire.FilesShared, Dir: "/work"})
		cancel()
		failed, is := errors.AsType[*tryout.Error](err)
		if !is || failed.At != c.at || !strings.Contains(err.Error(), c.words) || tryout.NotUnderstood(err) != c.notUnderstood {
			t.Errorf("%s: %+v, %v", name, failed, err)
		}
	}
}
