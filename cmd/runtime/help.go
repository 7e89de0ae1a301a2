package main

import (
	"fmt"
	"slices"

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

// help prints the help of the command that was named, or of the whole program.
func (p *program) help(parsed *kong.Context, args []string) int {
	node := parsed.Selected()
	if node != nil && slices.Contains(args, node.Name) { // the default command is selected unnamed, too
		p.print(fmt.Sprintf("Usage: runtime %s [flags]\n\n%s\n\n", node.Name, node.Help))
		p.flags(node)
		return exitOK
	}
	p.print("Usage: runtime [command]\n\n" + about + "Commands:\n")
	for _, c := range parsed.Model.Children {
		p.print(fmt.Sprintf("  %-9s %s\n", c.Name, c.Help))
	}
	p.print("\nSettings (environment variables):\n" + settings.Help(helpWidth))
	return exitOK
}

func (p *program) flags(node *kong.Node) {
	if len(node.Flags) == 0 {
		p.print("Settings are environment variables: runtime --help lists them.\n")
		return
	}
	p.print("Flags:\n")
	for _, f := range node.Flags {
		p.print(fmt.Sprintf("  %-9s %s\n", "--"+f.Name, f.Help))
	}
}

func (p *program) print(text string) {
	_, _ = p.stdout.Write([]byte(text))
}
