package chaos

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
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

// The report stands between these in a document.
const (
	reportBegin = "<!-- chaos: begin -->"
	reportEnd   = "<!-- chaos: end -->"
)

func (r Report) String() string {
	var b strings.Builder
	row := func(what string, n any) { fmt.Fprintf(&b, "| %s | %v |\n", what, n) }
	b.WriteString("| | |\n|---|---:|\n")
	row("seed, conversations", fmt.Sprintf("%d, %d", r.Plan.seed, r.Plan.contexts))
	row("commit, date", fmt.Sprintf("%s, %s", r.Commit, r.Began.UTC().Format(time.DateOnly)))
	row("took", r.Took.Round(time.Second))
	row("**processes killed**", fmt.Sprintf("**%d**", r.Field.kills))
	for s := killChild; s <= lull; s++ {
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

// Write puts the report between the markers of a document.
func (r Report) Write(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	head, rest, ok := strings.Cut(string(text), reportBegin)
	_, tail, closed := strings.Cut(rest, reportEnd)
	if !ok || !closed {
		return fmt.Errorf("%s has no lines %s and %s", name, reportBegin, reportEnd)
	}
	return os.WriteFile(name, []byte(head+reportBegin+"\n"+r.String()+reportEnd+tail), 0o644)
}
