package terminal

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/bridge"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// A plainPlace writes each thing once, below the one before, and takes lines.
type plainPlace struct {
	cfg      Config
	deed     deed
	out      *wholeLines
	printer  *bridge.Printer
	dialogue *dialogue
	leaving  bool // whether to cancel, or to leave, is asked
}

// What comes to a plain place.
type (
	lineMsg struct{ text string }
)

func newPlain(cfg Config) *plainPlace {
	p := &plainPlace{cfg: cfg, deed: deed{cfg.Runtime, cfg.Task.TaskID}, out: &wholeLines{to: cfg.Out}}
	p.printer = &bridge.Printer{Out: p.out, ID: cfg.Task.TaskID, Ask: p.ask}
	return p
}

// run shows the task until it has ended, or the person leaves.
func (p *plainPlace) run(ctx context.Context) (*bridge.Task, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	come := make(chan any)
	send := func(m any) {
		select {
		case come <- m:
		case <-ctx.Done():
		}
	}
	go p.watch(ctx, send)
	go readLines(p.cfg.In, send)
	p.say(p.cfg.Task.TaskID + ": " + p.cfg.Task.Prompt)
	p.say("A line that you write goes to codex. Ctrl-C asks whether to cancel or to leave.")
	interrupted := p.cfg.Interrupted
	for {
		select {
		case m := <-come:
			if end, ok := m.(endedMsg); ok {
				return end.task, end.err
			}
			if p.take(ctx, m) {
				return nil, ErrLeft
			}
		case <-ctx.Done():
			return nil, ErrLeft
		case <-interrupted:
			interrupted = nil // the next one ends ctx
			p.leaving = true
			p.say("Cancel the task, or leave it at work? c cancels, l leaves, Enter stays. Ctrl-C leaves.")
		}
	}
}

func (p *plainPlace) watch(ctx context.Context, send func(any)) {
	task, err := p.cfg.Runtime.Watch(ctx, p.cfg.Task.TaskID, bridge.Sight{
		Event: func(e a2a.Event) { send(sawMsg{e}) },
		Lost:  func(err error) { send(lostMsg{err}) },
	})
	send(endedMsg{task, err})
}

func readLines(in io.Reader, send func(any)) {
	lines := bufio.NewReader(in)
	for {
		text, err := lines.ReadString('\n')
		if err != nil {
			return // nothing more is said; the task is shown all the same
		}
		send(lineMsg{strings.TrimRight(text, "\r\n")})
	}
}

// take takes what has come, and reports whether the person leaves.
func (p *plainPlace) take(ctx context.Context, m any) (leaves bool) {
	switch m := m.(type) {
	case sawMsg:
		p.saw(m.event)
	case lostMsg:
		if m.err != nil {
			p.say("! the runtime is away, coming back to it: " + m.err.Error())
		} else {
			p.say("the runtime is back")
		}
	case lineMsg:
		if p.leaving {
			return p.leave(ctx, m.text)
		}
		p.line(ctx, m.text)
	}
	return false
}

func (p *plainPlace) saw(e a2a.Event) {
	p.printer.Event(e)
	update, ok := e.(*a2a.TaskStatusUpdateEvent)
	if _, step := bridge.StepOf(e); ok && !step && update.Status.State != a2a.TaskStateInputRequired {
		p.dialogue = nil
	}
}

// ask is told of a question whose words were written.
func (p *plainPlace) ask(q bridge.Question) {
	p.dialogue = newDialogue(q)
	p.offer()
}

// offer says how the question, or the field of it that is next, is answered.
func (p *plainPlace) offer() {
	if f := p.dialogue.field(); f != nil && len(p.dialogue.fields) > 1 {
		p.say("  " + f.Text)
	}
	for i, c := range p.dialogue.choices() {
		p.say(fmt.Sprintf("  %d: %s", i+1, c.label))
	}
	if p.secret() {
		p.say("  What you write can be seen here.")
	}
	p.say("  Write a number, " + p.dialogue.hint() + ".")
}

func (p *plainPlace) secret() bool {
	f := p.dialogue.field()
	return f != nil && f.Secret
}

// leave takes what is said to the question whether to leave.
func (p *plainPlace) leave(ctx context.Context, text string) (leaves bool) {
	p.leaving = false
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "l", "leave":
		return true
	case "c", "cancel":
		p.did("", p.deed.cancel(ctx))
	}
	return false
}

// line takes a line that the person has written.
func (p *plainPlace) line(ctx context.Context, text string) {
	if p.dialogue == nil {
		if strings.TrimSpace(text) != "" {
			how, err := p.deed.steer(ctx, text)
			p.did(how, err)
		}
		return
	}
	r, whole, err := p.dialogue.take(text)
	if err == nil && !whole {
		p.offer()
		return
	}
	if err == nil {
		err = p.deed.answer(ctx, p.dialogue.question, r)
	}
	if err != nil {
		p.dialogue = newDialogue(p.dialogue.question)
	}
	p.did("answered", err)
}

// did says what became of something that the person has asked for.
func (p *plainPlace) did(how string, err error) {
	switch {
	case err != nil:
		p.say("! " + err.Error())
	case how != "":
		p.say(how)
	}
}

func (p *plainPlace) say(text string) { p.printer.Say(brief.Plain(text)) }

// wholeLines writes lines when they are whole: screen readers say what has come again with each
// piece of a line.
type wholeLines struct {
	to   io.Writer
	line []byte
}

func (w *wholeLines) Write(text []byte) (int, error) {
	w.line = append(w.line, text...)
	end := bytes.LastIndexByte(w.line, '\n') + 1
	if end == 0 {
		return len(text), nil
	}
	_, err := w.to.Write(w.line[:end])
	w.line = append(w.line[:0], w.line[end:]...)
	return len(text), err
}
