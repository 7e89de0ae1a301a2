package terminal

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/bridge"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// A row is a line that is to be written. It may be wider than the terminal.
type row struct {
	look look
	text string
}

// An activity is a command or a tool that runs.
type activity struct {
	id, text string
	since    time.Time
}

// A scene is what is known of a task, and what of it is still to be written.
type scene struct {
	now  func() time.Time
	look palette

	state   a2a.TaskState
	plan    []bridge.PlanStep
	running []activity // in the order in which they began
	asks    []bridge.Question
	asked   string // the words of the question that was written last
	login   string
	queued  string // how many turns are ahead; "" if the task does not wait for its turn
	tokens  float64

	texts   texts
	diff    string // the newest, if it was not written yet
	written []row
}

func newScene(now func() time.Time, look palette) *scene { return &scene{now: now, look: look} }

func (s *scene) write(l look, text string) {
	for line := range strings.SplitSeq(brief.Plain(text), "\n") {
		s.written = append(s.written, row{l, line})
	}
}

// take returns what is to be written, and forgets it.
func (s *scene) take() []row {
	rows := s.written
	s.written = nil
	return rows
}

// see takes an event of the task.
func (s *scene) see(e a2a.Event) {
	if step, ok := bridge.StepOf(e); ok {
		s.step(step)
		return
	}
	switch e := e.(type) {
	case *a2a.Task: // its events are gone, or were lost
		for _, a := range e.Artifacts {
			s.artifact(a, false)
		}
		s.status(e.Status, e.Metadata)
	case *a2a.TaskArtifactUpdateEvent:
		s.artifact(e.Artifact, e.Append)
	case *a2a.TaskStatusUpdateEvent:
		s.status(e.Status, e.Metadata)
	}
}

func (s *scene) artifact(a *a2a.Artifact, adds bool) {
	text := bridge.Text(a.Parts)
	if a.Name == "diff" {
		s.diff = text
		return
	}
	s.lines(s.texts.see(a.ID, text, adds))
}

// lines writes those that are whole of the text that has come.
func (s *scene) lines(whole []string) {
	for _, line := range whole {
		s.write(plain, line)
	}
}

// unfinished is the line that is being written.
func (s *scene) unfinished() string { return untabbed(brief.Plain(s.texts.open())) }

// apart ends the text that is being written, before something else is.
func (s *scene) apart() { s.lines(s.texts.end()) }

func (s *scene) status(of a2a.TaskStatus, meta map[string]any) {
	s.state = of.State
	if usage, _ := meta["usage"].(map[string]any); usage != nil {
		s.tokens, _ = usage["totalTokens"].(float64)
	}
	s.queued = ""
	if ahead, ok := meta["ahead"].(float64); ok && meta["turn"] == "queued" {
		s.queued = fmt.Sprintf("%.0f", ahead)
	}
	s.asks = bridge.Questions(of)
	s.login = ""
	if len(s.asks) > 0 && s.asks[0].Stale() {
		s.running = nil // that turn is gone
	}
	switch of.State {
	case a2a.TaskStateInputRequired:
		s.ask()
	case a2a.TaskStateAuthRequired:
		s.login = bridge.Said(of.Message)
		s.apart()
		s.write(warn, "! "+s.login)
	default:
		s.asked = ""
	}
	if of.State.Terminal() {
		s.apart()
		s.changes()
		s.running, s.plan = nil, nil
	}
}

// ask writes the oldest question, unless that was done.
func (s *scene) ask() {
	if len(s.asks) == 0 {
		return
	}
	q := s.asks[0]
	if key := q.RequestID + q.Words(); key != s.asked {
		s.asked = key
		s.apart()
		s.write(plain, "")
		lines := strings.Split(q.Words(), "\n")
		s.write(asks, "? "+lines[0])
		for _, line := range lines[1:] {
			s.write(lookOfQuestion(line), line)
		}
	}
}

// step takes a step of the work.
func (s *scene) step(of bridge.Step) {
	if of.Type == "plan" {
		s.plan = of.Steps
		for i := range s.plan {
			s.plan[i].Step = brief.Plain(s.plan[i].Step)
		}
		return
	}
	if of.Running() {
		s.begin(of)
		return
	}
	s.running = slices.DeleteFunc(s.running, func(a activity) bool { return a.id == of.ID })
	rows := s.rowsOf(of)
	if len(rows) > 0 {
		s.apart()
	}
	for _, r := range rows {
		s.write(r.look, r.text)
	}
	if of.Type == "turn" {
		s.changes()
	}
}

func (s *scene) begin(of bridge.Step) {
	var text string
	switch of.Type {
	case "command":
		text = "$ " + s.look.clip(of.Command, mostShown)
	case "tool":
		text = of.Called()
	case "webSearch":
		text = "search: " + s.look.clip(of.Query, mostShown)
	default:
		return
	}
	known := func(a activity) bool { return a.id == of.ID }
	if !slices.ContainsFunc(s.running, known) {
		s.running = append(s.running, activity{of.ID, brief.Plain(text), s.now()})
	}
}

// changes writes the diff, if there is a new one.
func (s *scene) changes() {
	for _, r := range diffRows(s.diff, s.look.marks.more) {
		s.write(r.look, r.text)
	}
	s.diff = ""
}

// mostShown bounds what a line has of a command, in characters.
const mostShown = 300

// rowsOf is what is written of something that has ended.
func (s *scene) rowsOf(of bridge.Step) []row {
	switch of.Type {
	case "command":
		look := faint
		if of.ExitCode != nil && *of.ExitCode != 0 {
			look = bad
		}
		return []row{{strong, "$ " + s.look.clip(of.Command, mostShown)}, {look, "  " + of.Ended()}}
	case "fileChange":
		var rows []row
		for _, c := range of.Changes {
			rows = append(rows, row{faint, "  " + c.Kind + " " + c.Path})
		}
		return rows
	case "tool":
		return []row{{faint, s.look.marks.calls + of.Called() + " " + of.Ended()}}
	case "webSearch":
		return []row{{faint, s.look.marks.calls + "search: " + s.look.clip(of.Query, mostShown)}}
	case "reasoning":
		return []row{{faint, s.look.marks.thinks + s.look.clip(of.Text, 4*mostShown)}}
	case "notice":
		return []row{{warn, "! " + of.Text}}
	case "turn":
		return []row{{faint, "a turn has ended: " + of.Outcome}}
	}
	return nil
}
