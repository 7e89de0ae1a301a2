package tryout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/coder/websocket"
)

// A Ran is what came out of a command.
type Ran struct {
	Sandbox string // what codex has put around it; "none" is nothing
	Exit    int
	Output  string
}

// A RefusedError is a refusal of codex's exec-server.
type RefusedError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *RefusedError) Error() string { return e.Message }

// NotUnderstood reports whether an exec-server does not know what it was asked for, or not in this form: another version of
// codex's may not.
func NotUnderstood(err error) bool {
	refused, is := errors.AsType[*RefusedError](err)
	return is && (refused.Code == -32601 || refused.Code == -32602)
}

const mostMessage = 1 << 20 // of the exec-server

// A session is one with an exec-server: JSON-RPC without its name, one message in each of the WebSocket's (seen on 0.169.0).
type session struct {
	conn  *websocket.Conn
	last  int       // id of a call
	ahead []message // that came before the answer to one
}

// dial opens a session.
func dial(ctx context.Context, at, token string) (*session, error) {
	conn, answer, err := websocket.Dial(ctx, at, &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + token}}}) //nolint:bodyclose // the library has done it
	if err != nil {
		if answer != nil && answer.StatusCode != http.StatusSwitchingProtocols {
			return nil, fmt.Errorf("codex exec-server is not reached there (HTTP %d)", answer.StatusCode)
		}
		return nil, fmt.Errorf("codex exec-server is not reached there: %w", err)
	}
	conn.SetReadLimit(mostMessage)
	s := &session{conn: conn}
	if err := s.call(ctx, "initialize", map[string]any{"clientName": "molecule-codex-runtime"}, nil); err != nil {
		s.close()
		return nil, err
	}
	return s, s.write(ctx, message{Method: "initialized", Params: json.RawMessage("{}")})
}

func (s *session) close() { _ = s.conn.CloseNow() } // a command that runs ends with it

// A message is a call, an answer or a notification.
type message struct {
	ID     *int            `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *RefusedError   `json:"error,omitempty"`
}

func (s *session) write(ctx context.Context, m message) error {
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("say something to codex exec-server: %w", err)
	}
	return s.conn.Write(ctx, websocket.MessageText, text)
}

func (s *session) read(ctx context.Context) (m message, err error) {
	_, text, err := s.conn.Read(ctx)
	if err != nil {
		return m, fmt.Errorf("codex exec-server does not answer: %w", err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("codex exec-server says what is no JSON: %w", err)
	}
	return m, nil
}

// next is what is told next.
func (s *session) next(ctx context.Context) (m message, err error) {
	if len(s.ahead) > 0 {
		m, s.ahead = s.ahead[0], s.ahead[1:]
		return m, nil
	}
	return s.read(ctx)
}

// call makes a call.
func (s *session) call(ctx context.Context, method string, params, result any) error {
	asked, err := json.Marshal(params)
	if err != nil {
		return fmt.Errorf("ask codex exec-server: %w", err)
	}
	s.last++
	id := s.last
	if err := s.write(ctx, message{ID: &id, Method: method, Params: asked}); err != nil {
		return err
	}
	for {
		m, err := s.read(ctx)
		switch {
		case err != nil:
			return err
		case m.ID == nil || *m.ID != id || m.Method != "":
			s.ahead = append(s.ahead, m)
		case m.Error != nil:
			return m.Error
		case result == nil:
			return nil
		default:
			return json.Unmarshal(m.Result, result)
		}
	}
}

// Said is what the command of a trial says.
const Said = "well"

// run runs a command in a folder, and in a sandbox of codex's unless there is to be none.
func (s *session) run(ctx context.Context, dir, mode string) (ran Ran, err error) {
	asked := map[string]any{
		"processId": "trial", "argv": []string{"/bin/sh", "-c", "echo " + Said}, "cwd": uri(dir), "tty": false, "arg0": nil,
		"env": map[string]string{"PATH": "/usr/local/bin:/usr/bin:/bin"},
	}
	if mode != "danger-full-access" {
		asked["sandbox"] = sandbox(dir, mode == "workspace-write")
	}
	var began struct {
		SandboxType string `json:"sandboxType"`
	}
	if err := s.call(ctx, "process/start", asked, &began); err != nil {
		return ran, err
	}
	ran.Sandbox = began.SandboxType
	var output strings.Builder
	for {
		m, err := s.next(ctx)
		if err != nil {
			return ran, err
		}
		if m.Params == nil || output.Len() > mostMessage {
			continue
		}
		var told struct {
			Chunk    []byte `json:"chunk"` // in base64
			ExitCode int    `json:"exitCode"`
		}
		if err := json.Unmarshal(m.Params, &told); err != nil {
			return ran, fmt.Errorf("codex exec-server says what is not understood of a command: %w", err)
		}
		switch m.Method {
		case "process/output":
			output.Write(told.Chunk)
		case "process/exited":
			ran.Exit = told.ExitCode
		case "process/closed": // there is no more output
			ran.Output = strings.TrimSpace(output.String())
			return ran, nil
		}
	}
}

// sandbox is codex's word for one: all can be read, and what lies in the folder be written if that is to be.
func sandbox(dir string, writes bool) any {
	type object = map[string]any
	entries := []object{{"path": object{"type": "special", "value": object{"kind": "root"}}, "access": "read"}}
	if writes {
		entries = append(entries, object{"path": object{"type": "path", "path": uri(dir)}, "access": "write"})
	}
	return object{
		"permissions": object{"type": "managed", "file_system": object{"type": "restricted", "entries": entries}, "network": "restricted"},
		"cwd":         uri(dir), "windowsSandboxLevel": "disabled",
	}
}

func uri(dir string) string { return (&url.URL{Scheme: "file", Path: dir}).String() }
