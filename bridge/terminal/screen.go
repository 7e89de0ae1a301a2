package terminal

import (
	"context"
	"errors"
	"strings"
	"time"

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
	// didMsg is what became of something that the person has asked for, with the words text, and for
	// a question if it is not "".
	didMsg struct {
		question, text, note string
		err                  error
	}
	// calmMsg says that a question has been there for a while.
	calmMsg struct{ question string }
	// chosenMsg says that a digit has been alone in the line for a while.
	chosenMsg      struct{ edits int }
	interruptedMsg struct{}
	drawMsg        struct{}
	secondMsg      struct{}
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
	talk  talk
	draft *draft

	mode mode
	calm bool   // the question has been there for a while
	note string // what became of the last deed, or why it was refused
	away error  // why the runtime is
	// How long a question has to be there before a digit answers it, and how long that has to be alone:
	// who writes a sentence when it comes, or begins one with a digit, does not choose.
	settles, alone time.Duration

	pen           pen
	due           bool // a drawing
	asleep        bool // the program is suspended
	width, height int
	end           endedMsg
	left          bool
}

func runScreen(ctx context.Context, s *screen, options ...tea.ProgramOption) (*bridge.Task, error) {
	cfg := s.cfg
	watching, stop := context.WithCancel(ctx)
	program := tea.NewProgram(s, append(options, tea.WithContext(ctx), tea.WithoutSignalHandler(),
		tea.WithInput(cfg.In), tea.WithOutput(muted(cfg.Out)), tea.WithEnvironment(cfg.Environ))...)
	watched, heard := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		task, err := cfg.Runtime.Watch(watching, cfg.Task.TaskID, bridge.Sight{
			Event: func(e a2a.Event) { program.Send(sawMsg{e}) },
			Lost:  func(err error) { program.Send(lostMsg{err}) },
		})
		program.Send(endedMsg{task, err})
	}()
	go func() {
		defer close(heard)
		select {
		case <-cfg.Interrupted:
			program.Send(interruptedMsg{})
		case <-watching.Done():
		}
	}()
	s.pen.put()
	_, err := program.Run()
	s.pen.lift()
	stop()
	<-watched
	<-heard
	switch {
	case s.left || ctx.Err() != nil:
		return nil, ErrLeft
	case err != nil:
		return nil, err
	case s.end.task == nil && s.end.err == nil:
		return nil, errors.New("the terminal has ended before the task")
	}
	return s.end.task, s.end.err
}

func newScreen(ctx context.Context, cfg Config, now func() time.Time) *screen {
	look := paletteOf(cfg.Environ)
	s := &screen{
		ctx: ctx, cfg: cfg, deed: deed{cfg.Runtime, cfg.Task.TaskID}, scene: newScene(now, look), look: look,
		draft: newDraft(), pen: pen{out: cfg.Out}, settles: 600 * time.Millisecond, alone: 400 * time.Millisecond,
	}
	s.scene.write(strong, cfg.Task.TaskID+": "+cfg.Task.Prompt)
	return s
}

// Init implements [tea.Model].
func (s *screen) Init() tea.Cmd { return eachSecond() }

// eachSecond has the times on the screen go on.
func eachSecond() tea.Cmd { return after(time.Second, secondMsg{}) }

func after(d time.Duration, m tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return m })
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
		cmd = tea.Batch(cmd, after(drawEach, drawMsg{}))
	}
	return s, cmd
}

// View implements [tea.Model]. The screen draws itself.
func (s *screen) View() tea.View { return tea.NewView("") }

func (s *screen) take(m tea.Msg) tea.Cmd {
	switch m := m.(type) {
	case tea.WindowSizeMsg:
		s.width, s.height = m.Width, m.Height
		s.draft.resize(m.Width - 4)
		s.pen.resized(m.Width)
	case tea.KeyPressMsg:
		return s.press(m)
	case tea.PasteMsg:
		return s.draft.edit(m)
	case tea.ResumeMsg:
		s.asleep = false
		s.pen.put()
	case sawMsg:
		s.scene.see(m.event)
		return s.follow()
	case lostMsg:
		s.away, s.note = m.err, ""
	case interruptedMsg:
		s.mode = max(s.mode, leaving)
	case calmMsg:
		s.calm = s.calm || m.question == s.talk.asked()
	case chosenMsg:
		return s.chosen(m)
	case didMsg:
		s.did(m)
	case endedMsg:
		s.ended(m)
	case secondMsg:
		if s.mode != over {
			return eachSecond()
		}
	}
	return nil
}

// follow has the talk be about the oldest question, and the line be for it.
func (s *screen) follow() tea.Cmd {
	if !s.talk.follow(s.scene.asks) {
		return nil
	}
	s.note, s.calm = "", false
	s.draft.turnTo(s.talk.asked(), s.talk.secret())
	if s.draft.spoilt {
		s.note = "the question has gone while you wrote, and none of that is sent: press Enter"
	}
	return after(s.settles, calmMsg{s.talk.asked()})
}

// did says what became of a deed. What was not done stands in the line again.
func (s *screen) did(m didMsg) {
	s.note = m.note
	if m.err == nil {
		return
	}
	s.note = brief.Plain(reason(m.err))
	s.talk.again(m.question)
	s.draft.turnTo(s.talk.asked(), s.talk.secret())
	s.draft.putBack(m.text, m.question)
}

func (s *screen) ended(m endedMsg) {
	s.end, s.mode = m, over
	if m.err == nil {
		s.scene.write(faint, strings.Join(s.cost(), s.look.marks.between))
		s.scene.write(strong, ending(m.task))
	}
}

// draw draws the screen, and ends the program when the task is over.
func (s *screen) draw() tea.Cmd {
	if s.asleep {
		return nil
	}
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
		for _, part := range fold(r.text, s.width-1) {
			all = append(all, s.look.paint(r.look, part))
		}
	}
	if parts := fold(s.scene.unfinished(), s.width-1); len(parts) > 1 {
		last := len(parts) - 1
		s.scene.texts.leave(parts[last])
		all = append(all, parts[:last]...)
	}
	return all
}
