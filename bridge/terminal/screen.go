package terminal

import (
	"context"
	"errors"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/bridge"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// What comes to a screen beside keys.
type (
	sawMsg  struct{ event a2a.Event }
	lostMsg struct{ err error }
	// endedMsg is the end of the watch.
	endedMsg struct {
		task *bridge.Task
		err  error
	}
	// didMsg is what became of something that the person has asked for with the words text.
	didMsg struct {
		text, note string
		err        error
	}
	drawMsg   struct{}
	secondMsg struct{}
)

// A mode is what the keys are for.
type mode int

const (
	working mode = iota
	leaving      // whether to cancel, or to leave, is asked
	over         // the task has ended, or the person has left
)

// A screen is a place at a task on a terminal that can move its cursor. It is the model of a
// program of bubbletea.
type screen struct {
	ctx   context.Context
	cfg   Config
	deed  deed
	scene *scene
	look  palette

	mode     mode
	dialogue *dialogue // the oldest question, if there is one
	line     textarea.Model
	hidden   textinput.Model // the line for a secret
	early    bool            // what stands in the line was begun before the question came
	note     string          // what became of the last deed, or why it was refused
	away     error           // why the runtime is

	pen           pen
	due           bool // a drawing
	width, height int
	end           endedMsg
	left          bool
}

func runScreen(ctx context.Context, s *screen, options ...tea.ProgramOption) (*bridge.Task, error) {
	cfg := s.cfg
	watching, stop := context.WithCancel(ctx)
	program := tea.NewProgram(s, append(options, tea.WithContext(ctx),
		tea.WithInput(cfg.In), tea.WithOutput(muted(cfg.Out)), tea.WithEnvironment(cfg.Environ))...)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		task, err := cfg.Runtime.Watch(watching, cfg.Task.TaskID, bridge.Sight{
			Event: func(e a2a.Event) { program.Send(sawMsg{e}) },
			Lost:  func(err error) { program.Send(lostMsg{err}) },
		})
		program.Send(endedMsg{task, err})
	}()
	s.pen.put()
	_, err := program.Run()
	s.pen.lift()
	stop()
	<-watched
	switch {
	case errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, err
	case s.left:
		return nil, ErrLeft
	}
	return s.end.task, s.end.err
}

func newScreen(ctx context.Context, cfg Config, now func() time.Time) *screen {
	s := &screen{
		ctx: ctx, cfg: cfg, deed: deed{cfg.Runtime, cfg.Task.TaskID}, scene: newScene(now), look: paletteOf(cfg.Environ),
		line: textarea.New(), hidden: textinput.New(), pen: pen{out: cfg.Out},
	}
	s.line.Prompt, s.line.ShowLineNumbers, s.line.CharLimit = "", false, 0
	s.line.DynamicHeight, s.line.MaxHeight = true, mostTyped
	s.line.KeyMap.InsertNewline = key.NewBinding(key.WithKeys("ctrl+j", "alt+enter"))
	s.line.SetStyles(textarea.Styles{})
	s.line.SetVirtualCursor(false)
	s.line.Focus()
	s.hidden.Prompt, s.hidden.EchoMode = "", textinput.EchoPassword
	s.hidden.SetStyles(textinput.Styles{})
	s.hidden.SetVirtualCursor(false)
	s.hidden.Focus()
	s.scene.write(strong, cfg.Task.TaskID+": "+cfg.Task.Prompt)
	return s
}

// mostTyped bounds the rows of what is being written.
const mostTyped = 5

// Init implements [tea.Model].
func (s *screen) Init() tea.Cmd { return eachSecond() }

// eachSecond has the times on the screen go on.
func eachSecond() tea.Cmd {
	return tea.Tick(time.Second, func(time.Time) tea.Msg { return secondMsg{} })
}

// drawEach is how often the screen is drawn at most: much may come at once.
const drawEach = time.Second / 60

// Update implements [tea.Model].
func (s *screen) Update(m tea.Msg) (tea.Model, tea.Cmd) {
	if _, ok := m.(drawMsg); ok {
		s.due = false
		return s, s.draw()
	}
	cmd := s.take(m)
	if !s.due && s.width > 0 {
		s.due = true
		cmd = tea.Batch(cmd, tea.Tick(drawEach, func(time.Time) tea.Msg { return drawMsg{} }))
	}
	return s, cmd
}

// View implements [tea.Model]. The screen draws itself.
func (s *screen) View() tea.View { return tea.NewView("") }

func (s *screen) take(m tea.Msg) tea.Cmd {
	switch m := m.(type) {
	case tea.WindowSizeMsg:
		s.width, s.height = m.Width, m.Height
		s.pen.resized(m.Width)
		s.line.SetWidth(max(m.Width-4, 8))
		s.hidden.SetWidth(max(m.Width-4, 8))
	case tea.KeyPressMsg:
		return s.press(m)
	case tea.PasteMsg:
		return s.edit(m)
	case sawMsg:
		s.scene.see(m.event)
		s.follow()
	case lostMsg:
		s.away = m.err
	case didMsg:
		s.did(m)
	case endedMsg:
		s.end, s.mode = m, over
		if m.err == nil {
			s.scene.write(faint, strings.Join(s.cost(), " · "))
		}
	case tea.ResumeMsg:
		s.pen.put()
	case secondMsg:
		if s.mode != over {
			return eachSecond()
		}
	}
	return nil
}

// follow has the dialogue be about the oldest question.
func (s *screen) follow() {
	if len(s.scene.asks) == 0 {
		s.dialogue = nil
		return
	}
	oldest := s.scene.asks[0]
	if s.dialogue == nil || s.dialogue.question.RequestID != oldest.RequestID {
		s.dialogue = newDialogue(oldest)
		s.early = s.line.Value() != ""
		s.note = ""
		s.hidden.Reset()
	}
}

// did says what became of a deed. What was not done stands in the line again.
func (s *screen) did(m didMsg) {
	s.note = m.note
	if m.err == nil {
		return
	}
	s.note = brief.Plain(m.err.Error())
	if s.dialogue != nil {
		s.dialogue = newDialogue(s.dialogue.question)
	}
	if s.line.Value() == "" {
		s.line.SetValue(m.text)
	}
}

// draw draws the screen, and ends the program when the task is over.
func (s *screen) draw() tea.Cmd {
	above := s.rows()
	below, at := s.below()
	if err := s.pen.draw(above, below, at); err != nil { // there is no terminal any more
		s.left, s.mode = true, over
	}
	if s.mode == over {
		return tea.Quit
	}
	return nil
}

// rows are those of the scene that are to be written. Of a line that has not ended, the rows that are
// full are among them.
func (s *screen) rows() []string {
	var all []string
	for _, r := range s.scene.take() {
		text := r.text
		if r.look != plain {
			text = s.look.said(text)
		}
		for _, part := range wrap(text, s.width-1) {
			all = append(all, s.look.paint(r.look, part))
		}
	}
	if parts := wrap(s.scene.unfinished(), s.width-1); len(parts) > 1 {
		last := len(parts) - 1
		s.scene.texts.leave(parts[last])
		all = append(all, parts[:last]...)
	}
	return all
}
