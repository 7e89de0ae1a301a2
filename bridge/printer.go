package bridge

import (
	"fmt"
	"io"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// A Printer shows people what happens in a task. It is used by one goroutine.
type Printer struct {
	Out     io.Writer
	ID      string // of the task, for what it says about answering
	Color   bool
	Verbose bool // also shows how the requests to the model went
	Answers bool // are taken where it writes: by which commands they are given is left out

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
	if !p.Color || style == "" {
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
		p.calls(e.Metadata[keyModelCalls])
	case *a2a.TaskArtifactUpdateEvent:
		p.artifact(e.Artifact, e.Append)
	case *a2a.TaskStatusUpdateEvent:
		if step, ok := StepOf(e); ok {
			p.progress(step)
			return
		}
		p.status(e.Status)
		p.calls(e.Metadata[keyModelCalls])
	}
}

func (p *Printer) artifact(a *a2a.Artifact, adds bool) {
	text := Text(a.Parts)
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
		p.line(warn, "! "+Said(s.Message))
	default:
		p.asked = ""
	}
}

// questions shows what is asked, and how it is answered.
func (p *Printer) questions(s a2a.TaskStatus) {
	text := Said(s.Message)
	if text == p.asked {
		return
	}
	p.asked = text
	p.line(warn, "? "+text)
	if p.Answers {
		return
	}
	for _, q := range Questions(s) {
		p.line(bold, "  "+q.command(p.ID))
	}
}

// progress shows a step of the work.
func (p *Printer) progress(s Step) {
	switch {
	case s.Type == "command" && s.Running():
		p.line(bold, "$ "+brief.Line(s.Command, promptLength))
	case s.Type == "command":
		p.line(dim, "  "+s.Ended())
	case s.Type == "fileChange" && !s.Running():
		for _, c := range s.Changes {
			p.line(dim, "  "+c.Kind+" "+c.Path)
		}
	case s.Type == "tool" && s.Running():
		p.line(dim, "→ "+s.Called())
	case s.Type == "webSearch" && s.Running():
		p.line(dim, "→ search: "+brief.Line(s.Query, promptLength))
	case s.Type == "plan":
		p.plan(s.Steps)
	case s.Type == "reasoning":
		p.line(dim, "· "+brief.Line(s.Text, eventLength))
	case s.Type == "notice":
		p.line(warn, "! "+s.Text)
	case s.Type == "turn":
		p.calls(s.Calls)
		p.line(dim, "a turn has ended: "+s.Outcome)
	}
}

func (p *Printer) plan(steps []PlanStep) {
	for _, s := range steps {
		mark := " "
		switch {
		case s.Done():
			mark = "x"
		case s.Begun():
			mark = ">"
		}
		p.line(dim, "  ["+mark+"] "+s.Step)
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

// Say writes a line that is no event's.
func (p *Printer) Say(text string) { p.line("", text) }

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
