package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet/control"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

type machinesCommands struct {
	List    machinesList `cmd:"" default:"withargs" help:"List them: how each stands, what runs and waits there, and why it takes no turns. This is what runtime machines alone does."`
	Drain   machinesOne  `cmd:"" help:"Have a machine take no new turns, of any runtime. What runs there goes on; conversations whose files can move go on elsewhere."`
	Undrain machinesOne  `cmd:"" help:"Have it take turns again."`
}

type machinesList struct {
	JSON bool `name:"json" help:"Print JSON, for programs."`
}

type machinesOne struct {
	Name string `arg:"" help:"The machine, by its name or its address."`
	JSON bool   `name:"json" help:"Print JSON, for programs."`
}

// machines runs one of the commands of runtime machines.
func (p *program) machines(ctx context.Context, command string, c *machinesCommands) int {
	s, err := settings.LoadClient(p.environ)
	if !p.usable(err) {
		return exitUsage
	}
	client := control.Client{URL: s.URL, Token: s.Token.Reveal()}
	switch command, _, _ = strings.Cut(command, " "); command {
	case "drain":
		return p.drain(ctx, client, c.Drain, true)
	case "undrain":
		return p.drain(ctx, client, c.Undrain, false)
	}
	found, err := client.List(ctx)
	switch {
	case err != nil:
		return p.machinesFailed(err)
	case c.List.JSON:
		return p.printJSON(found)
	}
	var text strings.Builder
	writeMachines(&text, found)
	p.print(brief.Plain(text.String()))
	return exitOK
}

// drain has a machine take no new turns, or take them again.
func (p *program) drain(ctx context.Context, client control.Client, of machinesOne, drain bool) int {
	done, err := client.Drain(ctx, of.Name, drain)
	switch {
	case err != nil:
		return p.machinesFailed(err)
	case of.JSON:
		return p.printJSON(done)
	case drain:
		p.print(brief.Plain(done.Machine) + " takes no new turns. runtime machines undrain has it take them again.\n")
	default:
		p.print(brief.Plain(done.Machine) + " takes turns.\n")
	}
	return exitOK
}

// machinesFailed says why the runtime was not asked, or does not do it; what to do stands in that.
func (p *program) machinesFailed(err error) int {
	_, _ = fmt.Fprintf(p.stderr, "runtime: %s\n", brief.Plain(err.Error()))
	return exitFailed
}

// writeMachines writes a list for people.
func writeMachines(w io.Writer, found control.Answer) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "MACHINE\tSTATE\tTURNS\tCONVERSATIONS\tWAITING\tLOAD\tFREE DISK\tCODEX\tLABELS")
	for _, m := range found.Machines {
		fmt.Fprintln(table, strings.Join([]string{
			inRow(m.Name), machineState(m), known(m, fmt.Sprintf("%d of %d", m.Taken, m.Turns)), strconv.Itoa(m.Conversations), strconv.Itoa(m.Waiting),
			known(m, fmt.Sprintf("%.1f of %d", m.Load, m.CPUs)), known(m, gibibytes(m.FreeDisk)), known(m, inRow(cmp.Or(m.Codex, "-"))), inRow(labelsOf(m)),
		}, "\t"))
	}
	_ = table.Flush()
	for _, m := range found.Machines {
		if m.Why != "" {
			fmt.Fprintf(w, "\n%s: %s\n", inRow(m.Name), m.Why)
		}
	}
	if found.Waiting > 0 {
		fmt.Fprintf(w, "\n%d turns wait for a machine.\n", found.Waiting)
	}
	if found.Trouble != "" {
		fmt.Fprintf(w, "\nThe list of machines cannot be read as a whole: %s\n", found.Trouble)
	}
}

// machineState is how a machine stands, in one word.
func machineState(m fleet.Shown) string {
	switch {
	case m.State == fleet.Up && m.Draining:
		return "drains"
	case m.State == fleet.Up && !m.Takes:
		return "trouble"
	}
	return string(m.State)
}

// known is what a machine has said of itself, if it ever has.
func known(m fleet.Shown, what string) string {
	if m.Heard.IsZero() {
		return "-"
	}
	return what
}

func labelsOf(m fleet.Shown) string {
	all := make([]string, 0, len(m.Labels))
	for _, key := range slices.Sorted(maps.Keys(m.Labels)) {
		all = append(all, key+"="+m.Labels[key])
	}
	return cmp.Or(strings.Join(all, ","), "-")
}

func gibibytes(n int64) string { return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30)) }

// inRow keeps what a machine says of itself to its place in a table.
func inRow(text string) string { return strings.Join(strings.Fields(text), " ") }
