package terminal

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/bridge"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// A plainPlace writes each thing once, below the one before, and takes lines.
type plainPlace struct {
	cfg     Config
	deed    deed
	now     func() time.Time
	printer *bridge.Printer
	scene   *scene // its rows are not written: the printer's are
	talk    talk
	deeds   chan func() // are done one after the other

	offered time.Time // when the choices were written last
	held    string    // a line that was written before the question could be read
	leaving bool      // whether to cancel, or to leave, is asked
}

// read is how long a person takes at least to see that a question has come: what is written before that
// was meant for something else.
const read = 2 * time.Second

// A lineMsg is a line that the person has written; err says that there are no more.
type lineMsg struct {
	text string
	err  error
}

func newPlain(cfg Config, now func() time.Time) *plainPlace {
	return &plainPlace{
		cfg: cfg, deed: deed{cfg.Runtime, cfg.Task.TaskID}, now: now, scene: newScene(now, paletteOf(cfg.Environ)), deeds: make(chan func(), 64),
		printer: &bridge.Printer{Out: &wholeLines{to: cfg.Out}, ID: cfg.Task.TaskID, Answers: true},
	}
}

// run shows the task until it has ended, or the person leaves.
func (p *plainPlace) run(ctx context.Context) (*bridge.Task, error) {
	ctx, stop := context.WithCancel(ctx)
	come := make(chan any)
	send := func(m any) {
		select {
		case come <- m:
		case <-ctx.Done():
		}
	}
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		p.watch(ctx, send)
	}()
	defer func() {
		stop()
		<-watched
	}()
	go readLines(p.cfg.In, send) // until there is something to read, or the program ends
	worked := make(chan struct{})
	go func() {
		defer close(worked)
		for do := range p.deeds {
			do()
		}
	}()
	noMore := sync.OnceFunc(func() { close(p.deeds) })
	defer noMore()
	p.say(p.cfg.Task.TaskID + ": " + p.cfg.Task.Prompt)
	p.say("A line that you write goes to codex. Ctrl-C asks whether to cancel or to leave; Ctrl-D leaves.")
	interrupted := p.cfg.Interrupted
	for {
		select {
		case m := <-come:
			if end, ok := m.(endedMsg); ok {
				return end.task, p.ended(end)
			}
			if p.take(ctx, m, send) {
				noMore()
				p.finish(ctx, come, worked)
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

func (p *plainPlace) ended(m endedMsg) error {
	if m.err == nil {
		p.say(ending(m.task))
	}
	return m.err
}

func (p *plainPlace) watch(ctx context.Context, send func(any)) {
	task, err := p.cfg.Runtime.Watch(ctx, p.cfg.Task.TaskID, bridge.Sight{
		Event: func(e a2a.Event) { send(sawMsg{e}) },
		Lost:  func(err error) { send(lostMsg{err}) },
	})
	send(endedMsg{task, err})
}

// finish waits until all is done that the person has asked for.
func (p *plainPlace) finish(ctx context.Context, come <-chan any, worked <-chan struct{}) {
	for {
		select {
		case m := <-come:
			if did, ok := m.(didMsg); ok {
				p.did(did)
			}
		case <-worked:
			return
		case <-ctx.Done():
			return
		}
	}
}

func readLines(in io.Reader, send func(any)) {
	lines := bufio.NewReader(in)
	for {
		text, err := lines.ReadString('\n')
		if err == nil || text != "" {
			send(lineMsg{text: strings.TrimRight(text, "\r\n")})
		}
		if err != nil {
			send(lineMsg{err: err})
			return
		}
	}
}

// take takes what has come, and reports whether the person leaves.
func (p *plainPlace) take(ctx context.Context, m any, send func(any)) (leaves bool) {
	switch m := m.(type) {
	case sawMsg:
		p.printer.Event(m.event)
		p.scene.see(m.event)
		p.scene.take()
		p.follow()
	case lostMsg:
		if m.err != nil {
			p.say("! the runtime is away, coming back to it: " + m.err.Error())
		} else {
			p.say("the runtime is back")
		}
	case didMsg:
		p.did(m)
	case lineMsg:
		switch {
		case m.err != nil:
			return errors.Is(m.err, io.EOF)
		case p.leaving:
			return p.leave(ctx, m.text, send)
		}
		p.line(ctx, m.text, send)
	}
	return false
}

// follow has the talk be about the oldest question.
func (p *plainPlace) follow() {
	if !p.talk.follow(p.scene.asks) {
		return
	}
	p.held = ""
	if p.talk.dialogue == nil {
		p.say("nothing is asked any more: a line goes to the turn again")
		return
	}
	p.offer()
}

// offer says how the question, or the field of it that is next, is answered.
func (p *plainPlace) offer() {
	d := p.talk.dialogue
	p.offered = p.now()
	if f := d.field(); f != nil && len(d.fields) > 1 {
		p.say("  " + f.Text)
	}
	for _, text := range d.offers() {
		p.say("  " + text)
	}
	if p.talk.secret() {
		p.say("  What you write can be seen here.")
	}
	if len(d.choices()) > 0 && d.numbered() {
		p.say("  Write a number, " + d.hint() + ".")
		return
	}
	p.say("  Write it, " + d.hint() + ".")
}

// leave takes what is said to the question whether to leave.
func (p *plainPlace) leave(ctx context.Context, text string, send func(any)) (leaves bool) {
	p.leaving = false
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "l", "leave":
		return true
	case "c", "cancel":
		p.attempt(didMsg{}, send, func() (string, error) { return "", p.deed.cancel(ctx) })
	}
	return false
}

// line takes a line that the person has written.
func (p *plainPlace) line(ctx context.Context, text string, send func(any)) {
	d := p.talk.dialogue
	switch {
	case d == nil && strings.TrimSpace(text) == "":
	case d == nil:
		p.attempt(didMsg{}, send, func() (string, error) { return p.deed.steer(ctx, text) })
	case d.settled:
		p.say("the answer is on its way")
	case p.held != "" && text == "":
		text, p.held = p.held, ""
		p.answer(ctx, d, text, send)
	case len(d.given) == 0 && p.now().Sub(p.offered) < read:
		p.held = text
		p.say("A question has come while you wrote. An empty line sends " + fmt.Sprintf("%q", text) + " as its answer; another line is one, too.")
	default:
		p.held = ""
		p.answer(ctx, d, text, send)
	}
}

func (p *plainPlace) answer(ctx context.Context, d *dialogue, text string, send func(any)) {
	r, whole, err := d.take(text)
	switch {
	case err != nil:
		p.say("! " + err.Error())
	case !whole:
		p.offer()
	default:
		q := d.question
		p.attempt(didMsg{question: q.RequestID, note: "answered"}, send, func() (string, error) { return "", p.deed.answer(ctx, q, r) })
	}
}

// attempt does something behind what was to be done before, and says what became of it.
func (p *plainPlace) attempt(of didMsg, send func(any), do func() (string, error)) {
	work := func() {
		how, err := do()
		if how != "" {
			of.note = how
		}
		of.err = err
		send(of)
	}
	select {
	case p.deeds <- work:
	default:
		p.say("! too much waits to be sent; nothing was done with this")
	}
}

// did says what became of something that the person has asked for.
func (p *plainPlace) did(m didMsg) {
	switch {
	case m.err != nil:
		p.say("! " + reason(m.err))
		if p.talk.asked() == m.question && m.question != "" {
			p.talk.again(m.question)
			p.offer()
		}
	case m.note != "":
		p.say(m.note)
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
