package fakemodel

import (
	"strings"
)

// An interpreter runs the commands in a message.
type interpreter struct {
	prefix string // begins every agent message
	help   string // what the command help answers
	strict bool   // commands count only if the first line is one
}

// A command is one line of a message that the interpreter knows.
type command struct {
	verb verb
	args string
}

// A verb is a kind of command. Exactly one of do and start is set.
type verb struct {
	// takes reports whether args fit; a line whose arguments do not is no command.
	takes func(args string) bool
	// do carries out a command that needs no tool.
	do func(in interpreter, t *Turn, args string)
	// start calls a tool; its output comes back in another request, and report
	// answers it.
	start  func(t *Turn, args string)
	report func(args string, out execOutput) string
	// detached commands are not waited for when they go on running.
	detached bool
}

// parse finds the commands of a text.
func (in interpreter) parse(text string) []command {
	var commands []command
	first := true
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		word, args, _ := strings.Cut(line, " ")
		args = strings.TrimSpace(args)
		v, known := verbOf(word)
		switch {
		case known && v.takes(args):
			commands = append(commands, command{v, args})
		case first && in.strict:
			return nil
		}
		first = false
	}
	return commands
}

// answer carries out one request. A message with tools takes several: what was
// done in earlier ones is known by the tool outputs that are there.
func (in interpreter) answer(t *Turn) {
	commands := in.parse(t.LastUserText())
	if len(commands) == 0 {
		in.echo(t)
		return
	}
	outputs := t.NewToolOutputs()
	for _, c := range commands {
		if t.broken != "" || t.ctx.Err() != nil {
			return
		}
		if c.verb.do != nil {
			if len(outputs) == 0 {
				c.verb.do(in, t, c.args)
			}
			continue
		}
		if len(outputs) == 0 {
			c.verb.start(t, c.args)
			return
		}
		out, rest, waiting := take(outputs, c.verb.detached)
		if waiting {
			pollSession(t, out.session)
			return
		}
		if outputs = rest; len(outputs) == 0 {
			in.say(t, c.verb.report(c.args, out))
		}
	}
}

// take reads the outputs that belong to one tool command: the first, and as
// many more as it was polled for. waiting means that it still runs.
func take(outputs []ToolOutput, detached bool) (out execOutput, rest []ToolOutput, waiting bool) {
	var text strings.Builder
	for i, o := range outputs {
		out = parseExec(o.Text)
		text.WriteString(out.text)
		if out.session == 0 || detached {
			out.text = text.String()
			return out, outputs[i+1:], false
		}
	}
	return out, nil, true
}

func (in interpreter) say(t *Turn, text string) { t.Say(in.prefix + text) }

func (in interpreter) echo(t *Turn) {
	text := "echo: " + t.LastUserText()
	if in.help != "" {
		text += "\n(Send help to see what else it does.)"
	}
	in.say(t, text)
}
