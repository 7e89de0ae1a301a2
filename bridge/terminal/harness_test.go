package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/bridge"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/screentest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const id = "codex-3f9a1c0b7d24"

// noon is when all happens in these tests, and the task was begun half a minute before.
var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// A runtime is a scripted one: tests say what happens in its task, and see what it is asked for.
type runtime struct {
	events chan any // an a2a.Event, an error that says it is away, or a *bridge.Task: the end
	asked  chan string
	refuse error         // the answer to all that is asked for
	hold   chan struct{} // the answer waits until it is closed; nil waits for nothing
}

func (r *runtime) answer() error {
	if r.hold != nil {
		<-r.hold
	}
	return r.refuse
}

func newRuntime() *runtime {
	return &runtime{events: make(chan any), asked: make(chan string, 16)}
}

func (r *runtime) Watch(ctx context.Context, _ string, see bridge.Sight) (*bridge.Task, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case e := <-r.events:
			switch e := e.(type) {
			case a2a.Event:
				see.Event(e)
			case *bridge.Task:
				return e, nil
			case nil:
				see.Lost(nil)
			case error:
				see.Lost(e)
			}
		}
	}
}

func (r *runtime) Do(_ context.Context, a bridge.Args) (any, error) {
	r.asked <- strings.TrimSpace(fmt.Sprintf("%s %s %s", a.Action, a.Instruction, a.Decision))
	return bridge.TaskAnswer{Result: map[string]any{"turn": "steered"}}, r.answer()
}

func (r *runtime) Say(_ context.Context, _, question, words string) (*bridge.Task, error) {
	r.asked <- fmt.Sprintf("say %s %s", question, words)
	return nil, r.answer()
}

// A sitting is a place at a task, and the person at it.
type sitting struct {
	*screentest.Display

	t       *testing.T
	runtime *runtime
	place   *screen
	keys    *io.PipeWriter
	stop    context.CancelFunc
	done    chan struct{}
	end     *bridge.Task
	err     error
}

// lines ends lines as the driver of a terminal does.
type lines struct{ to io.Writer }

func (l lines) Write(b []byte) (int, error) {
	_, err := l.to.Write(bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n")))
	return len(b), err
}

func sit(t *testing.T, columns, rows int, environ ...string) *sitting {
	t.Helper()
	keyboard, keys := io.Pipe()
	s := &sitting{Display: screentest.NewDisplay(t, columns, rows), t: t, runtime: newRuntime(), keys: keys, done: make(chan struct{})}
	created := float64(noon.Add(-32*time.Second).UnixMicro()) / 1e6
	cfg := Config{
		Runtime: s.runtime, Task: &bridge.Task{TaskID: id, Prompt: "fix the failing test", CreatedAt: created},
		In: keyboard, Out: lines{s.Display}, Environ: append([]string{"TERM=xterm-256color", "LANG=C.UTF-8"}, environ...),
	}
	ctx, stop := context.WithCancel(t.Context())
	s.stop = stop
	s.place = newScreen(ctx, cfg, func() time.Time { return noon })
	s.place.settles, s.place.alone = time.Millisecond, 50*time.Millisecond
	go func() {
		defer close(s.done)
		s.end, s.err = runScreen(ctx, s.place, tea.WithWindowSize(columns, rows))
	}()
	t.Cleanup(func() {
		_ = keys.CloseWithError(io.EOF)
		<-s.done
	})
	return s
}

// see waits until all the texts can be seen, and returns the screen.
func (s *sitting) see(texts ...string) string {
	s.t.Helper()
	return s.Await(texts...)
}

func (s *sitting) press(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.keys, keys); err != nil {
		s.t.Fatal(err)
	}
}

// happens tells the terminal events, one after the other.
func (s *sitting) happens(events ...any) {
	s.t.Helper()
	for _, e := range events {
		select {
		case s.runtime.events <- e:
		case <-s.done:
			s.t.Fatalf("the terminal has ended: %v", s.err)
		}
	}
}

// wants is what the person has the runtime asked for.
func (s *sitting) wants(what string) {
	s.t.Helper()
	select {
	case got := <-s.runtime.asked:
		if got != what {
			s.t.Errorf("the runtime was asked %q, want %q", got, what)
		}
	case <-time.After(20 * time.Second):
		s.t.Fatalf("the runtime was not asked %q:\n%s", what, s.Text())
	}
}

// ends waits for the terminal's end.
func (s *sitting) ends() (*bridge.Task, error) {
	s.t.Helper()
	select {
	case <-s.done:
	case <-time.After(20 * time.Second):
		s.t.Fatalf("the terminal has not ended:\n%s", s.Text())
	}
	return s.end, s.err
}

var errAway = errors.New("connection refused")

// says is a piece of a text of codex.
func says(artifact, text string, adds bool) a2a.Event {
	return &a2a.TaskArtifactUpdateEvent{Append: adds, Artifact: &a2a.Artifact{ID: a2a.ArtifactID(artifact), Parts: a2a.ContentParts{a2a.NewTextPart(text)}}}
}

// step is a step of the work.
func step(data map[string]any) a2a.Event {
	return &a2a.TaskStatusUpdateEvent{Status: a2a.TaskStatus{
		State: a2a.TaskStateWorking, Message: a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewDataPart(data)),
	}}
}

func command(status string, more map[string]any) a2a.Event {
	data := map[string]any{"type": "command", "id": "c1", "status": status, "command": "go test ./parser"}
	maps.Copy(data, more)
	return step(data)
}

func plan(statuses ...string) a2a.Event {
	names := []string{"read the parser", "mend it", "run the tests"}
	steps := make([]any, 0, len(statuses))
	for i, status := range statuses {
		steps = append(steps, map[string]any{"step": names[i], "status": status})
	}
	return step(map[string]any{"type": "plan", "steps": steps})
}

// state is a change of the task's state.
func state(s a2a.TaskState, parts ...*a2a.Part) a2a.Event {
	e := &a2a.TaskStatusUpdateEvent{Status: a2a.TaskStatus{State: s}, Metadata: map[string]any{"usage": map[string]any{"totalTokens": 12_345.0}}}
	if len(parts) > 0 {
		e.Status.Message = a2a.NewMessage(a2a.MessageRoleAgent, parts...)
	}
	return e
}

// question asks, in words and in data.
func question(words string, data map[string]any) a2a.Event {
	data["type"] = "question"
	return state(a2a.TaskStateInputRequired, a2a.NewTextPart(words), a2a.NewDataPart(data))
}

func mayRun(id string) a2a.Event {
	return question("codex asks whether it may run this command:\n\n    rm -rf build\n\nAnswer yes, no or cancel.", map[string]any{
		"id": id, "kind": "command", "choices": []any{"accept", "decline", "cancel"},
	})
}
