package bridge

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// A Printer shows people what happens in a task. It is used by one goroutine.
type Printer struct {
	Out     io.Writer
	ID      string // of the task, for what it says about answering
	Color   bool
	Verbose bool // also shows how the requests to the model went

	writing a2a.ArtifactID // whose text is being written
	midLine bool
	asked   string // the question that was shown last
	model   string // how requests to the model went, as it was shown last
}

// The looks of a line.
const (
	dim  = "2"
	bold = "1"
	warn = "33"
)

func (p *Printer) look(style, text string) string {
	if !p.Color {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// Event shows one.
func (p *Printer) Event(e a2a.Event) {
	switch e := e.(type) {
	case *a2a.Task:
		for _, a := range e.Artifacts {
			p.artifact(a, false)
		}
		p.status(e.Status)
		p.calls(e.Metadata)
	case *a2a.TaskArtifactUpdateEvent:
		p.artifact(e.Artifact, e.Append)
	case *a2a.TaskStatusUpdateEvent:
		if data := progressOf(e); data != nil {
			p.progress(data)
			return
		}
		p.status(e.Status)
		p.calls(e.Metadata)
	}
}

func (p *Printer) artifact(a *a2a.Artifact, adds bool) {
	text := join(a.Parts)
	if a.Name == "diff" {
		p.line(dim, fmt.Sprintf("± a diff of %d lines", strings.Count(text, "\n")))
		return
	}
	if !adds || p.writing != a.ID {
		p.newLine()
		p.writing = a.ID
	}
	if text != "" {
		p.print(brief.Plain(text))
		p.midLine = !strings.HasSuffix(text, "\n")
	}
}

func (p *Printer) status(s a2a.TaskStatus) {
	switch s.State {
	case a2a.TaskStateInputRequired:
		p.questions(s)
	case a2a.TaskStateAuthRequired:
		p.line(warn, "! "+said(s.Message))
	default:
		p.asked = ""
	}
}

// questions shows what is asked, and how it is answered.
func (p *Printer) questions(s a2a.TaskStatus) {
	text := said(s.Message)
	if text == p.asked {
		return
	}
	p.asked = text
	p.line(warn, "? "+text)
	for _, q := range questionsOf(s) {
		p.line(bold, "  "+q.command(p.ID))
	}
}

// progress shows a step of the work.
func (p *Printer) progress(data map[string]any) {
	word := func(key string) string {
		s, _ := data[key].(string)
		return s
	}
	running := word("status") == "inProgress"
	switch kind := word("type"); {
	case kind == "command" && running:
		p.line(bold, "$ "+brief.Line(word("command"), promptLength))
	case kind == "command":
		p.line(dim, "  "+outcome(data))
	case kind == "fileChange" && !running:
		changes, _ := data["changes"].([]any)
		for _, c := range changes {
			change, _ := c.(map[string]any)
			p.line(dim, fmt.Sprintf("  %v %v", change["kind"], change["path"]))
		}
	case kind == "tool" && running:
		p.line(dim, "→ "+strings.TrimPrefix(word("server")+"."+word("tool"), "."))
	case kind == "webSearch" && running:
		p.line(dim, "→ search: "+brief.Line(word("query"), promptLength))
	case kind == "plan":
		p.plan(data)
	case kind == "reasoning":
		p.line(dim, "· "+brief.Line(word("text"), eventLength))
	case kind == "notice":
		p.line(warn, "! "+word("text"))
	case kind == "turn":
		p.calls(data)
		p.line(dim, "a turn has ended: "+word("outcome"))
	}
}

// outcome says how a command ended.
func outcome(data map[string]any) string {
	how, _ := data["status"].(string)
	if code, ok := data["exitCode"].(float64); ok {
		how = fmt.Sprintf("exit %.0f", code)
	}
	if ms, ok := data["durationMs"].(float64); ok {
		how += " after " + (time.Duration(ms) * time.Millisecond).String()
	}
	return how
}

func (p *Printer) plan(data map[string]any) {
	steps, _ := data["steps"].([]any)
	for _, s := range steps {
		step, _ := s.(map[string]any)
		mark := map[any]string{"completed": "x", "inProgress": ">", "in_progress": ">"}[step["status"]]
		p.line(dim, fmt.Sprintf("  [%1s] %v", mark, step["step"]))
	}
}

// End shows how the task ended.
func (p *Printer) End(t *Task) {
	why := ""
	if t.Error != nil {
		why = ": " + *t.Error
	}
	p.line(bold, t.TaskID+" "+t.Status+why)
}

func (p *Printer) line(style, text string) {
	p.newLine()
	p.writing = ""
	p.print(p.look(style, brief.Plain(text)) + "\n")
}

func (p *Printer) newLine() {
	if p.midLine {
		p.print("\n")
		p.midLine = false
	}
}

func (p *Printer) print(text string) { _, _ = io.WriteString(p.Out, text) }
