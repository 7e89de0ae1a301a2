package terminal

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// press takes a key.
func (s *screen) press(k tea.KeyPressMsg) tea.Cmd {
	switch pressed := k.String(); {
	case s.mode == over:
		return nil
	case s.mode == leaving:
		return s.pressLeaving(pressed)
	case pressed == "ctrl+c":
		s.mode = leaving
		return nil
	case pressed == "ctrl+z":
		s.asleep = true
		s.pen.lift()
		return tea.Suspend
	case pressed == "ctrl+d" && s.draft.value() == "":
		return s.leave()
	case pressed == "enter":
		return s.enter()
	}
	cmd := s.draft.edit(k)
	if s.calm && s.chooses() {
		return tea.Batch(cmd, after(s.alone, chosenMsg{s.draft.edits}))
	}
	return cmd
}

// pressLeaving takes a key that says whether to cancel or to leave.
func (s *screen) pressLeaving(pressed string) tea.Cmd {
	switch pressed {
	case "ctrl+c", "l":
		return s.leave()
	case "c":
		s.mode = working
		s.note = "canceling"
		return s.attempt(didMsg{}, func() (string, error) { return "", s.deed.cancel(s.ctx) })
	case "esc", "enter", "q", "n":
		s.mode = working
	}
	return nil
}

// leave ends the program, and not the task.
func (s *screen) leave() tea.Cmd {
	s.left, s.mode = true, over
	return nil
}

// chooses reports whether the number of a choice stands in the line, and nothing else.
func (s *screen) chooses() bool {
	d := s.talk.dialogue
	if d == nil || s.draft.secret || s.draft.astray() || !d.byKey() {
		return false
	}
	_, ok := nth(d.choices(), s.draft.value())
	return ok
}

// chosen makes the choice whose number has been alone in the line for a while.
func (s *screen) chosen(m chosenMsg) tea.Cmd {
	if s.mode != working || m.edits != s.draft.edits || !s.chooses() {
		return nil
	}
	return s.answer()
}

// enter sends what stands in the line: to a question, or to the turn.
func (s *screen) enter() tea.Cmd {
	d := s.talk.dialogue
	switch {
	case s.draft.spoilt:
		s.draft.spoilt, s.note = false, ""
	case s.draft.astray():
		s.draft.begun = s.draft.aim
		s.note = "the question that you wrote this for has gone: Enter tells it to the turn"
		if d != nil {
			s.note = "a question has come while you wrote: Enter sends this as its answer"
		}
	case d == nil && strings.TrimSpace(s.draft.value()) == "":
	case d == nil:
		return s.steer()
	case d.settled:
		s.note = "the answer is on its way"
	default:
		return s.answer()
	}
	return nil
}

func (s *screen) steer() tea.Cmd {
	text := s.draft.take()
	s.echo(text)
	return s.attempt(didMsg{text: text}, func() (string, error) { return s.deed.steer(s.ctx, text) })
}

// answer gives the dialogue what was written, or chosen.
func (s *screen) answer() tea.Cmd {
	d, secret := s.talk.dialogue, s.draft.secret
	text := s.draft.take()
	r, whole, err := d.take(text)
	s.note = ""
	if err != nil {
		s.note = err.Error()
		return nil
	}
	if !secret {
		s.echo(d.said(text))
	}
	s.draft.turnTo(s.talk.asked(), s.talk.secret())
	if !whole {
		return nil
	}
	of := didMsg{question: d.question.RequestID, text: r.words, note: "answered"}
	if len(d.fields) > 0 {
		of.text = "" // it is asked again
	}
	return s.attempt(of, func() (string, error) { return "", s.deed.answer(s.ctx, d.question, r) })
}

// echo writes what the person has said.
func (s *screen) echo(text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	s.scene.apart()
	for line := range strings.SplitSeq(brief.Plain(text), "\n") {
		s.scene.write(place, s.look.marks.prompt+line)
	}
}

// attempt does something, and says what became of it.
func (s *screen) attempt(of didMsg, do func() (string, error)) tea.Cmd {
	return func() tea.Msg {
		how, err := do()
		if how != "" {
			of.note = how
		}
		of.err = err
		return of
	}
}

// age is how long ago something was, to the second.
func age(now, since time.Time) string {
	return max(now.Sub(since), 0).Truncate(time.Second).String()
}
