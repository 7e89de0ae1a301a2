package ask

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// A form is a subject that is settled by values: questions of the model, or the
// fields of an MCP server.
type form struct {
	fields []field
	show   func(*draft) Posed
	// values finds the values in an answer's data, by the fields' ids; nil if there are none.
	values func(data map[string]any) map[string]any
	// encode makes codex's answer of values, of which some may be missing.
	encode func(values map[string]any) (any, error)
	// words are the decisions that plain words make before they count as a value.
	words   []string
	decided func(decision string) (value any, ok bool)
	refusal any
}

// A field is one value that is asked for.
type field struct {
	id, label string
	options   []option
	other     bool // a value beside the options will do, too
	list      bool // several of the options
	required  bool
	parse     func(text string) (any, error) // of one without options
}

// An option is one of the values that a field may have.
type option struct {
	label, description string
	value              any
}

func (f form) pose(d *draft) Posed { return f.show(d) }

func (f form) grant() any { return f.refusal }

func (f form) answer(a agent.Answer) (Reply, error) {
	data, _ := a.Data.(map[string]any)
	if data["decision"] != nil || data["action"] != nil {
		decision, err := a.Decision()
		if err != nil {
			return Reply{}, err
		}
		if decision != agent.Accept || len(f.fields) == 0 {
			return f.decide(decision)
		}
	}
	if values := f.values(data); values != nil {
		return f.fill(values)
	}
	if word, ok := agent.DecisionIn(a.Text); ok && slices.Contains(f.words, word) {
		return f.decide(word)
	}
	values, err := f.read(a.Text)
	if err != nil {
		return Reply{}, err
	}
	return f.fill(values)
}

func (f form) decide(decision any) (Reply, error) {
	if word, ok := decision.(string); ok {
		if value, ok := f.decided(word); ok {
			return Reply{Value: value}, nil
		}
	}
	return Reply{}, agent.NotUnderstood("That decision cannot be given here.")
}

// fill checks values and makes codex's answer of them.
func (f form) fill(values map[string]any) (Reply, error) {
	for id := range values {
		if !slices.ContainsFunc(f.fields, func(field field) bool { return field.id == id }) {
			return Reply{}, agent.NotUnderstood("Nothing is asked under the name %q.", brief.Clip(id, 64))
		}
	}
	for _, field := range f.fields {
		if values[field.id] == nil && field.required {
			return Reply{}, agent.NotUnderstood("The answer to %q is missing.", field.label)
		}
	}
	value, err := f.encode(values)
	if err != nil {
		return Reply{}, err
	}
	return Reply{Value: value}, nil
}

// read finds the values in a text: all of it where one thing is asked, else a
// line for each, which names it by number, id or label.
func (f form) read(text string) (map[string]any, error) {
	values := map[string]any{}
	if strings.TrimSpace(text) == "" {
		return nil, agent.NotUnderstood("There is no answer in that.")
	}
	if len(f.fields) == 1 {
		value, err := f.fields[0].read(text, true)
		values[f.fields[0].id] = value
		return values, err
	}
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, rest, found := strings.Cut(line, ":")
		field := f.named(name)
		if !found || field == nil {
			return nil, agent.NotUnderstood("The line %q does not say what it answers.", brief.Clip(strings.TrimSpace(line), 64))
		}
		if _, twice := values[field.id]; twice {
			return nil, agent.NotUnderstood("%q is answered twice.", field.label)
		}
		value, err := field.read(rest, false)
		if err != nil {
			return nil, err
		}
		values[field.id] = value
	}
	return values, nil
}

func (f form) named(name string) *field {
	name = strings.TrimSpace(name)
	if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= len(f.fields) {
		return &f.fields[n-1]
	}
	for i, field := range f.fields {
		if strings.EqualFold(field.id, name) || strings.EqualFold(field.label, name) {
			return &f.fields[i]
		}
	}
	return nil
}

// read makes a value of a text; numbered says that the options were offered with numbers.
func (f field) read(text string, numbered bool) (any, error) {
	text = strings.TrimSpace(text)
	if f.list {
		var all []any
		for part := range strings.SplitSeq(text, ",") {
			chosen, err := f.choose(strings.TrimSpace(part), numbered)
			if err != nil {
				return nil, err
			}
			if chosen == nil {
				return nil, f.noOption(part)
			}
			all = append(all, chosen.value)
		}
		return all, nil
	}
	chosen, err := f.choose(text, numbered)
	switch {
	case err != nil:
		return nil, err
	case chosen != nil:
		return chosen.value, nil
	case len(f.options) > 0 && !f.other:
		return nil, f.noOption(text)
	case f.parse == nil:
		return text, nil
	}
	return f.parse(text)
}

// choose returns the option that a text names: by its number, by its label, or by its value, such as
// true. A value that is a number names none: where the label is another, nobody is shown it, and
// whoever answers with a number means the one that is shown. It is nil if the text names none.
func (f field) choose(text string, numbered bool) (*option, error) {
	named := slices.IndexFunc(f.options, func(o option) bool { return strings.EqualFold(o.label, text) })
	n, err := strconv.Atoi(strings.TrimSuffix(text, "."))
	isNumber := err == nil
	if isNumber && numbered && n >= 1 && n <= len(f.options) {
		if named >= 0 && named != n-1 {
			return nil, agent.NotUnderstood("%q is the number of one choice and the text of another: answer with the number of yours and a dot, such as \"%d.\".", text, named+1)
		}
		return &f.options[n-1], nil
	}
	if named < 0 && !isNumber {
		named = slices.IndexFunc(f.options, func(o option) bool { return strings.EqualFold(fmt.Sprint(o.value), text) })
	}
	if named < 0 {
		return nil, nil
	}
	return &f.options[named], nil
}

func (f field) noOption(text string) error {
	return agent.NotUnderstood("%q is none of the choices for %q.", brief.Clip(strings.TrimSpace(text), 64), f.label)
}

// inLines lists what is asked, each with its choices. Where there is only one
// thing, it stands behind the lead, and its choices have the numbers.
func inLines(d *draft, lead string, fields []field) string {
	var b strings.Builder
	for i, f := range fields {
		if len(fields) == 1 {
			b.WriteString(setOff(lead, d.clean(f.label)))
			for n, o := range f.options {
				fmt.Fprintf(&b, "\n%d. %s", n+1, oneLine(o.label))
				if o.description != "" {
					b.WriteString(": " + oneLine(o.description))
				}
			}
			break
		}
		fmt.Fprintf(&b, "%d: %s", i+1, oneLine(f.label))
		if len(f.options) > 0 {
			b.WriteString(" (" + strings.Join(labels(f.options), " | ") + ")")
		}
		if i < len(fields)-1 {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func labels(options []option) []string {
	all := make([]string, 0, len(options))
	for _, o := range options {
		all = append(all, oneLine(o.label))
	}
	return all
}

// howToFill says how people give the values.
func howToFill(fields []field) string {
	switch {
	case len(fields) > 1:
		return `Answer each on a line of its own, such as "1: …"`
	case len(fields) == 1 && len(fields[0].options) > 0 && fields[0].other:
		return "Answer with a number, or in words of your own"
	case len(fields) == 1 && len(fields[0].options) > 0:
		return "Answer with a number or the choice itself"
	}
	return "Answer with a text"
}
