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
		s.pen.lift()
		return tea.Suspend
	case pressed == "ctrl+d" && s.typed() == "":
		return s.leave()
	case pressed == "enter":
		return s.enter()
	case s.typed() == "" && s.chooses(pressed):
		return s.answer(pressed)
	}
	return s.edit(k)
}

// pressLeaving takes a key that says whether to cancel or to leave.
func (s *screen) pressLeaving(pressed string) tea.Cmd {
	switch pressed {
	case "ctrl+c", "l":
		return s.leave()
	case "c":
		s.mode = working
		s.note = "canceling"
		return s.attempt("", "", func() (string, error) { return "", s.deed.cancel(s.ctx) })
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

// chooses reports whether a key is the number of a choice.
func (s *screen) chooses(pressed string) bool {
	if s.dialogue == nil || s.dialogue.settled {
		return false
	}
	_, ok := nth(s.dialogue.choices(), pressed)
	return ok
}

// secret reports whether what is written now is not to be seen.
func (s *screen) secret() bool {
	if s.dialogue == nil {
		return false
	}
	f := s.dialogue.field()
	return f != nil && f.Secret
}

// typed is what stands in the line.
func (s *screen) typed() string {
	if s.secret() {
		return s.hidden.Value()
	}
	return s.line.Value()
}

// edit has the line take a key, or what is pasted.
func (s *screen) edit(m tea.Msg) (cmd tea.Cmd) {
	if s.secret() {
		s.hidden, cmd = s.hidden.Update(m)
		return cmd
	}
	s.line, cmd = s.line.Update(m)
	return cmd
}

// enter sends what stands in the line: to a question, or to the turn.
func (s *screen) enter() tea.Cmd {
	text := s.typed()
	switch {
	case s.dialogue == nil && strings.TrimSpace(text) == "":
		return nil
	case s.dialogue == nil:
		s.line.Reset()
		return s.steer(text)
	case s.dialogue.settled:
		s.note = "the answer is on its way"
		return nil
	case s.early && text != "":
		s.early = false
		s.note = "a question has come while you wrote: Enter sends this as its answer"
		return nil
	}
	return s.answer(text)
}

func (s *screen) steer(text string) tea.Cmd {
	s.echo(text)
	return s.attempt(text, "", func() (string, error) {
		return s.deed.steer(s.ctx, text)
	})
}

// answer gives the dialogue what was written, or chosen.
func (s *screen) answer(text string) tea.Cmd {
	secret := s.secret()
	r, whole, err := s.dialogue.take(text)
	s.line.Reset()
	s.hidden.Reset()
	s.early = false
	if err != nil {
		s.note = err.Error()
		return nil
	}
	s.note = ""
	if !secret {
		s.echo(s.dialogue.said(text))
	}
	if !whole {
		return nil
	}
	q := s.dialogue.question
	back := r.words
	if secret || len(s.dialogue.fields) > 0 {
		back = "" // it is asked again
	}
	return s.attempt(back, "answered", func() (string, error) { return "", s.deed.answer(s.ctx, q, r) })
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
func (s *screen) attempt(text, note string, do func() (string, error)) tea.Cmd {
	return func() tea.Msg {
		how, err := do()
		if how == "" {
			how = note
		}
		return didMsg{text: text, note: how, err: err}
	}
}

// age is how long ago something was, to the second.
func age(now, since time.Time) string {
	return max(now.Sub(since), 0).Truncate(time.Second).String()
}
