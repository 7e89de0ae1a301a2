package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// TestCommandLinePage keeps docs/cli.md as the commands are.
func TestCommandLinePage(t *testing.T) {
	parser, err := parserOf(&commands{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(codextest.Root(t), "docs", "cli.md")
	want := commandLinePage(parser.Model)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("docs/cli.md differs from the commands (%v): run go test ./cmd/runtime -run TestCommandLinePage -update", err)
	}
}

// TestEveryCommandHasWords has the page, and --help, say something of everything.
func TestEveryCommandHasWords(t *testing.T) {
	parser, err := parserOf(&commands{})
	if err != nil {
		t.Fatal(err)
	}
	var look func(n *kong.Node)
	look = func(n *kong.Node) {
		for _, v := range n.Positional {
			if v.Help == "" && !n.Hidden {
				t.Errorf("%s: %s has no help", n.FullPath(), v.Name)
			}
		}
		for _, f := range n.Flags {
			if f.Help == "" && !f.Hidden {
				t.Errorf("%s: --%s has no help", n.FullPath(), f.Name)
			}
		}
		for _, c := range n.Children {
			if c.Help == "" {
				t.Errorf("%s has no help", c.FullPath())
			}
			look(c)
		}
	}
	look(parser.Model.Node)
}

const commandLineHead = `# The command line

This page is made from the commands of the program; ` + "`go test ./cmd/runtime -run TestCommandLinePage -update`" + ` writes it anew.
` + "`runtime --help`" + ` shows the same, and each command has a ` + "`--help`" + ` of its own. What is no argument here is a
[setting](settings.md), from the environment.

| exit code | meaning |
|---|---|
| %d | it went well |
| %d | it went wrong; ` + "`doctor`" + `: what it was asked about would not run; ` + "`task watch`" + `: the task is not completed |
| %d | the arguments or the settings cannot be used: stderr says which, with a hint |
| %d | a second SIGINT or SIGTERM ended it at once; the first has it stop in order |

An error is two lines on stderr, ` + "`runtime: …`" + ` and ` + "`hint: …`" + `, and of what ` + "`runtime task`" + ` is answered the first alone: [errors.md](errors.md) has them.

| command | what it does |
|---|---|
`

func commandLinePage(app *kong.Application) string {
	var b strings.Builder
	fmt.Fprintf(&b, commandLineHead, exitOK, exitFailed, exitUsage, exitInterrupted)
	for _, c := range app.Children {
		if !c.Hidden {
			fmt.Fprintf(&b, "| [`%s`](#runtime-%s) | %s |\n", c.Name, c.Name, inCell(c.Help))
		}
	}
	for _, c := range app.Children {
		if !c.Hidden {
			writeCommand(&b, c, "##")
		}
	}
	return b.String()
}

func writeCommand(b *strings.Builder, n *kong.Node, heading string) {
	fmt.Fprintf(b, "\n%s runtime %s\n\n", heading, strings.TrimPrefix(n.FullPath(), "runtime "))
	usage := []string{n.FullPath()}
	for _, a := range n.Positional {
		usage = append(usage, a.Summary())
	}
	if len(n.Children) > 0 {
		usage = append(usage, "<command>")
	}
	if len(n.Flags) > 0 || len(n.Children) > 0 {
		usage = append(usage, "[flags]")
	}
	fmt.Fprintf(b, "```\n%s\n```\n\n%s\n", strings.Join(usage, " "), n.Help)
	if len(n.Aliases) > 0 {
		fmt.Fprintf(b, "\nAlso: `%s`.\n", strings.Join(n.Aliases, "`, `"))
	}
	if n.Detail != "" {
		fmt.Fprintf(b, "\n%s\n", n.Detail)
	}
	if len(n.Positional)+len(n.Flags) > 0 {
		b.WriteString("\n| argument | meaning |\n|---|---|\n")
	}
	for _, a := range n.Positional {
		fmt.Fprintf(b, "| `%s` | %s |\n", a.Summary(), inCell(a.Help))
	}
	for _, f := range n.Flags {
		if !f.Hidden {
			fmt.Fprintf(b, "| `%s` | %s |\n", flagName(f), inCell(f.Help))
		}
	}
	for _, c := range n.Children {
		writeCommand(b, c, heading+"#")
	}
}

func flagName(f *kong.Flag) string {
	name := "--" + f.Name
	if f.Short != 0 {
		name = "-" + string(f.Short) + ", " + name
	}
	if !f.IsBool() {
		name += " " + strings.ToUpper(f.FormatPlaceHolder())
	}
	return name
}

// inCell is a text in a cell of a table.
func inCell(text string) string { return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(text) }
