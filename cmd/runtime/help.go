package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

const helpWidth = 80

const about = `runtime owns one codex app-server and serves A2A over HTTP. Each message
becomes a turn on the codex thread of its conversation: in order, streamed, and
cancelable.

  Try it                  RUNTIME_MODEL=scripted runtime
  With a key              OPENAI_API_KEY=... runtime
  With a ChatGPT login    codex login && runtime
  Ask it something        curl -s http://127.0.0.1:8000/ -H 'Content-Type: application/json' -d '
    {"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{
     "kind":"message","messageId":"m1","role":"user",
     "parts":[{"kind":"text","text":"What is in this directory?"}]}}}'
  The agent card          http://127.0.0.1:8000/.well-known/agent-card.json

`

// asksForHelp reports whether a flag does.
func asksForHelp(args []string) bool {
	return slices.Contains(args, "--help") || slices.Contains(args, "-h")
}

// help prints the help of the command that was named, or of the whole program.
func (p *program) help(model *kong.Application, args []string) int {
	if node := named(model.Node, args); node != model.Node {
		p.command(node)
		return exitOK
	}
	p.print("Usage: runtime [command]\n\n" + about + "Commands:\n")
	for _, c := range model.Children {
		if c.Hidden {
			continue
		}
		p.print(fmt.Sprintf("  %-9s %s\n", c.Name, c.Help))
	}
	p.print("\nSettings (environment variables):\n" + settings.Help(helpWidth))
	return exitOK
}

// named follows the names of commands among the arguments.
func named(node *kong.Node, args []string) *kong.Node {
	for _, arg := range args {
		for _, c := range node.Children {
			if c.Name == arg || slices.Contains(c.Aliases, arg) {
				node = c
				break
			}
		}
	}
	return node
}

// command prints the help of one.
func (p *program) command(node *kong.Node) {
	usage := append(make([]string, 0, 1+len(node.Positional)), strings.TrimPrefix(node.FullPath(), "runtime "))
	for _, a := range node.Positional {
		usage = append(usage, a.Summary())
	}
	more := "[flags]"
	if len(node.Children) > 0 {
		more = "<command> [flags]"
	}
	p.print(fmt.Sprintf("Usage: runtime %s %s\n\n%s\n\n", strings.Join(usage, " "), more, node.Help))
	if node.Detail != "" {
		p.print(node.Detail + "\n\n")
	}
	if len(node.Children) > 0 {
		p.print("Commands:\n")
		for _, c := range node.Children {
			p.print(fmt.Sprintf("  %-16s  %s\n", c.Name, c.Help))
		}
		p.print("\nEach has a --help of its own.\n")
		return
	}
	p.flags(node)
}

func (p *program) flags(node *kong.Node) {
	for _, a := range node.Positional {
		p.print(fmt.Sprintf("  %-26s %s\n", a.Summary(), a.Help))
	}
	if len(node.Flags) == 0 {
		p.print("Settings are environment variables: runtime --help lists them.\n")
		return
	}
	p.print("Flags:\n")
	for _, f := range node.Flags {
		name := "--" + f.Name
		if !f.IsBool() {
			name += " " + strings.ToUpper(f.FormatPlaceHolder())
		}
		p.print(fmt.Sprintf("  %-26s %s\n", name, f.Help))
	}
}
