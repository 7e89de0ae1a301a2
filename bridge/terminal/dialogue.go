package terminal

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/bridge"
)

// leaveOpen is what a person writes to give no answer where any other word would be one.
const leaveOpen = "/decline"

// A reply is the answer to a question: in words if there are any, else a decision, else a form that is
// left empty.
type reply struct{ words, decision string }

// A choice is one that a digit makes.
type choice struct{ label, value string }

// A dialogue leads through a question until there is an answer to it. Questions that have to be
// filled in are asked field by field.
type dialogue struct {
	question bridge.Question
	fields   []bridge.Field
	given    []string // the answers to the first of the fields
	settled  bool     // the answer is whole
}

func newDialogue(q bridge.Question) *dialogue { return &dialogue{question: q, fields: q.Fields()} }

// field is the one that is asked for now, nil if a decision settles the question.
func (d *dialogue) field() *bridge.Field {
	if len(d.given) < len(d.fields) {
		return &d.fields[len(d.given)]
	}
	return nil
}

// labelOf is what people read of a decision.
func labelOf(decision string) string {
	switch decision {
	case "accept":
		return "yes"
	case "acceptForSession":
		return "always"
	case "decline":
		return "no"
	case "cancel":
		return "cancel"
	}
	return decision
}

// choices are those of the field, or of the question.
func (d *dialogue) choices() []choice {
	var all []choice
	if f := d.field(); f != nil {
		for _, o := range f.Options {
			all = append(all, choice{o.Label, o.Label})
		}
		return all
	}
	for _, decision := range d.question.Decisions() {
		all = append(all, choice{labelOf(decision), decision})
	}
	return all
}

// numbered reports whether the choices have numbers: not where they are some themselves.
func (d *dialogue) numbered() bool {
	return !slices.ContainsFunc(d.choices(), func(c choice) bool {
		_, err := strconv.ParseFloat(c.label, 64)
		return err == nil
	})
}

// byKey reports whether a digit makes a choice.
func (d *dialogue) byKey() bool { return !d.settled && d.numbered() && len(d.choices()) <= 9 }

// offers are the choices as they are shown.
func (d *dialogue) offers() []string {
	var all []string
	for i, c := range d.choices() {
		if d.numbered() {
			all = append(all, fmt.Sprintf("[%d] %s", i+1, c.label))
		} else {
			all = append(all, c.label)
		}
	}
	return all
}

// hint says what else can be done than to choose.
func (d *dialogue) hint() string {
	f := d.field()
	switch {
	case f == nil:
		return "or answer in words"
	case f.Optional:
		return "Enter leaves it out, " + leaveOpen + " all of it"
	}
	return leaveOpen + " gives no answer"
}

// take takes what was written, and returns the answer once it is whole.
func (d *dialogue) take(text string) (r reply, whole bool, err error) {
	r, d.settled, err = d.read(text)
	return r, d.settled, err
}

func (d *dialogue) read(text string) (r reply, whole bool, err error) {
	text = strings.TrimSpace(text)
	f := d.field()
	if f == nil {
		if c, ok := nth(d.choices(), text); ok {
			return reply{decision: c.value}, true, nil
		}
		return reply{words: text}, text != "", nil
	}
	if text == leaveOpen {
		return reply{decision: "decline"}, true, nil
	}
	if d.numbered() {
		text = named(d.choices(), text)
	}
	if text == "" && !f.Optional {
		return reply{}, false, errors.New("it needs an answer; " + leaveOpen + " gives none")
	}
	d.given = append(d.given, strings.Join(strings.Fields(text), " ")) // one line each
	if len(d.given) < len(d.fields) {
		return reply{}, false, nil
	}
	return reply{words: d.filled()}, true, nil
}

// filled is all that was given, in the words that docs/messages.md has for it.
func (d *dialogue) filled() string {
	if len(d.fields) == 1 {
		return d.given[0]
	}
	var lines []string
	for i, f := range d.fields {
		if d.given[i] != "" {
			lines = append(lines, f.Name+": "+d.given[i])
		}
	}
	return strings.Join(lines, "\n")
}

// named has the labels of choices in place of their numbers, of which a list may be given.
func named(choices []choice, text string) string {
	parts := strings.Split(text, ",")
	for i, part := range parts {
		c, ok := nth(choices, strings.TrimSpace(part))
		if !ok {
			return text
		}
		parts[i] = c.value
	}
	return strings.Join(parts, ", ")
}

// nth is the choice that a number means, counted from 1.
func nth(choices []choice, text string) (choice, bool) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > len(choices) {
		return choice{}, false
	}
	return choices[n-1], true
}

// said is what a person has answered, in words.
func (d *dialogue) said(text string) string {
	text = strings.TrimSpace(text)
	if len(d.fields) > 0 { // what was given, or nothing
		if text == leaveOpen || len(d.given) == 0 {
			return text
		}
		return d.given[len(d.given)-1]
	}
	if c, ok := nth(d.choices(), text); ok {
		return c.label
	}
	return text
}
