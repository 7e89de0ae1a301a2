package chaos

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// A Report is what a run has come to.
type Report struct {
	Plan   Plan
	Field  *field
	Tally  Tally
	Ledger *Ledger
	Commit string // that ran: what is checked out may be another one by the end
	Began  time.Time
	Took   time.Duration
}

func (r Report) String() string {
	var b strings.Builder
	row := func(what string, n any) { fmt.Fprintf(&b, "| %s | %v |\n", what, n) }
	b.WriteString("| | |\n|---|---:|\n")
	row("seed, conversations", fmt.Sprintf("%d, %d", r.Plan.seed, r.Plan.contexts))
	if r.Plan.machines > 0 {
		row("machines", r.Plan.machines)
	}
	row("commit, date", fmt.Sprintf("%s, %s", r.Commit, r.Began.UTC().Format(time.DateOnly)))
	row("took", r.Took.Round(time.Second))
	row("**processes killed**", fmt.Sprintf("**%d**", r.Field.kills))
	for s := range strikes {
		if n := r.Field.count[s]; n > 0 {
			row("strikes: "+s.String(), n)
		}
	}
	if !r.Field.disk.there() {
		row("strikes: disk filled", "skipped, nothing could be mounted")
	}
	t := r.Tally
	row("messages", t.Messages)
	row("— completed", t.Completed)
	row("— interrupted; of these, text only, cut twice", fmt.Sprintf("%d; %d", t.Interrupted, t.InterruptedText))
	if r.Plan.machines > 0 {
		row("— interrupted, of these, by what became of a machine", t.InterruptedThere)
	}
	row("— canceled, as asked", t.Canceled)
	row("— failed, as the model did", t.Failed)
	row("— timed out, as the model hung", t.TimedOut)
	row("— refused: the task that it named had ended", t.Refused)
	row("run again on purpose (`metadata.retry`)", t.RetriedOnPurpose)
	row("seen by the model a further time: cut before a tool", t.Reruns)
	row("seen by the model a further time: connections cut", t.Recut)
	row("the model was asked by a WebSocket; by HTTP", fmt.Sprintf("%d; %d", r.Ledger.sockets, r.Ledger.posts))
	row("WebSockets that it refused", r.Field.model.turned.Load())
	row("commands that ran", t.Lines)
	row("ends told to clients, none of which contradicts another", r.Ledger.answers)
	for _, words := range slices.Sorted(maps.Keys(r.Ledger.putOff)) {
		row("clients told to come again: "+words, r.Ledger.putOff[words])
	}
	row("streams resumed behind an event", r.Ledger.resumed)
	row("longest time from a strike to the next answer of the model", r.Field.worst.Round(time.Millisecond))
	row("**lost, doubled, stuck, out of order, left over**", fmt.Sprintf("**%d**", len(r.Ledger.faults)))
	return b.String()
}

// keep writes the report into the document that is asked for, unless the books do not hold.
func (r Report) keep(t *testing.T, name string) {
	t.Helper()
	if *reportFlag == "" || t.Failed() {
		return
	}
	if err := r.Write(*reportFlag, name); err != nil {
		t.Error(err)
	}
}

// Write puts the report between the markers of a document that have its name.
func (r Report) Write(file, name string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	begin, end := "<!-- "+name+": begin -->", "<!-- "+name+": end -->"
	head, rest, ok := strings.Cut(string(text), begin)
	_, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return fmt.Errorf("%s has no lines %s and %s", file, begin, end)
	}
	return os.WriteFile(file, []byte(head+begin+"\n"+r.String()+end+tail), 0o644)
}
