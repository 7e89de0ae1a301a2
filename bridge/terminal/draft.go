package terminal

import (
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// mostTyped bounds the rows of what is being written.
const mostTyped = 5

// A draft is what is being written, and what for: words that were begun for one thing must not go to
// another that has come, or is left, meanwhile.
type draft struct {
	line   textarea.Model
	hidden textinput.Model // the line for a secret

	aim    string // what is written now is for: the id of a question, or "" for the turn
	secret bool   // and is not to be seen
	begun  string // what the line was begun for
	spoilt bool   // a secret was being written when its question went: the rest of it is dropped
	edits  int
}

func newDraft() *draft {
	d := &draft{line: textarea.New(), hidden: textinput.New()}
	d.line.Prompt, d.line.ShowLineNumbers, d.line.CharLimit = "", false, 0
	d.line.DynamicHeight, d.line.MaxHeight = true, mostTyped
	d.line.KeyMap.InsertNewline = key.NewBinding(key.WithKeys("ctrl+j", "alt+enter"))
	d.line.SetStyles(textarea.Styles{})
	d.line.SetVirtualCursor(false)
	d.line.Focus()
	d.hidden.Prompt, d.hidden.EchoMode = "", textinput.EchoPassword
	d.hidden.SetStyles(textinput.Styles{})
	d.hidden.SetVirtualCursor(false)
	d.hidden.Focus()
	return d
}

func (d *draft) resize(width int) {
	d.line.SetWidth(max(width, 1))
	d.hidden.SetWidth(max(width, 1))
}

// turnTo says what is written from now on is for.
func (d *draft) turnTo(aim string, secret bool) {
	if aim == d.aim && secret == d.secret {
		return
	}
	d.spoilt = d.spoilt || d.secret && d.hidden.Value() != ""
	d.aim, d.secret = aim, secret
	d.hidden.Reset()
}

// value is what stands in the line.
func (d *draft) value() string {
	if d.secret {
		return d.hidden.Value()
	}
	return d.line.Value()
}

// astray reports whether the line was begun for something else than it would go to.
func (d *draft) astray() bool { return !d.secret && d.line.Value() != "" && d.begun != d.aim }

// edit has the line take a key, or what is pasted.
func (d *draft) edit(m tea.Msg) (cmd tea.Cmd) {
	if d.spoilt {
		return nil
	}
	d.edits++
	if d.secret {
		d.hidden, cmd = d.hidden.Update(m)
		return cmd
	}
	empty := d.line.Value() == ""
	d.line, cmd = d.line.Update(m)
	if empty {
		d.begun = d.aim
	}
	return cmd
}

// take returns what stands in the line, and empties it.
func (d *draft) take() string {
	text := d.value()
	if d.secret {
		d.hidden.Reset()
		return text
	}
	d.line.Reset()
	d.begun = d.aim
	return text
}

// putBack puts words that did not arrive into an empty line again, with what they were for.
func (d *draft) putBack(text, begun string) {
	if d.line.Value() == "" && text != "" {
		d.line.SetValue(text)
		d.begun = begun
	}
}

// rows are those of the line, behind a prompt, and where the cursor is in them.
func (d *draft) rows(prompt string) (rows []string, at cursor) {
	text, where := d.line.View(), d.line.Cursor()
	if d.secret {
		text, where = d.hidden.View(), d.hidden.Cursor()
	}
	for row := range strings.SplitSeq(text, "\n") {
		rows = append(rows, prompt+strings.TrimRight(row, " "))
		prompt = strings.Repeat(" ", ansi.StringWidth(prompt))
	}
	if where != nil {
		at = cursor{where.Y, where.X + ansi.StringWidth(prompt)}
	}
	return rows, at
}
