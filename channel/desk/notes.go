package desk

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// What is noted with a message at most: lines, of which those at the front and at the end are kept, and how much of what
// was told.
const (
	firstLines  = 3
	lastLines   = 5
	longestTold = 200
)

const ifAnswer = "If that was the answer, call inbox_pop and do not answer again."

// Telling notes, with the messages of a peer, or of the user, that were shown, that their sender is about to be told
// something. It has returned before that happens, and then it is on the disk; told says what came of it. What is noted
// stays, and what is not known to have arrived stays so, whatever is told later.
func (d *Desk) Telling(ctx context.Context, workspace, peer, text string) (told func(error), err error) {
	at, begins := time.Now().UTC().Format(time.RFC3339), brief.Line(text, longestTold)
	begun := fmt.Sprintf("At %s you began to send this sender: %q. Whether it arrived is not known. %s", at, begins, ifAnswer)
	rows := d.shownOf(workspace, peer)
	if len(rows) == 0 {
		return func(error) {}, nil
	}
	if err := d.note(ctx, rows, true, func(lines []string) []string { return append(lines, begun) }); err != nil {
		return nil, err
	}
	return func(err error) {
		if err != nil && !platform.Undone(err) {
			return // and it is not known still
		}
		came := func(lines []string) []string {
			if i := slices.Index(lines, begun); i >= 0 && err != nil {
				lines = slices.Delete(lines, i, i+1)
			} else if i >= 0 {
				lines[i] = fmt.Sprintf("At %s you sent this sender: %q. %s", at, begins, ifAnswer)
			}
			return lines
		}
		if err := d.note(context.WithoutCancel(ctx), rows, false, came); err != nil {
			d.cfg.Logger.Warn("what was said to the sender of a message could not be noted", "workspace", workspace, "err", err)
		}
	}, nil
}

// shownOf are the messages of a sender that were shown and wait.
func (d *Desk) shownOf(workspace, peer string) map[int64]bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	rows := map[int64]bool{}
	for _, it := range d.items {
		if d.waits(it) && it.shown && it.Workspace == workspace && strings.EqualFold(it.Peer, peer) {
			rows[it.N] = true
		}
	}
	return rows
}

// note changes what is noted of messages that lie here, all of them by one commit.
func (d *Desk) note(ctx context.Context, rows map[int64]bool, atOnce bool, change func(lines []string) []string) error {
	d.noting.Lock() // those that show messages do not wait for it
	defer d.noting.Unlock()
	notes := map[int64]string{}
	d.mu.Lock()
	for _, it := range d.items {
		if !rows[it.N] {
			continue
		}
		if note := bounded(change(linesOf(it.Note))); note != it.Note {
			notes[it.N] = note
		}
	}
	d.mu.Unlock()
	if len(notes) == 0 {
		return nil
	}
	if err := d.cfg.Journal.NoteInbox(ctx, notes, atOnce); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, it := range d.items {
		if note, ok := notes[it.N]; ok {
			it.Note = note
		}
	}
	return nil
}

func linesOf(note string) []string {
	if note == "" {
		return nil
	}
	return strings.Split(note, "\n")
}

// between stands for the lines that are left out.
const between = "Then you sent this sender %d more things; of %d of them it is not known whether they arrived."

// bounded is a note of so many lines at most. Of those that are left out it is kept how many are not known to have arrived.
func bounded(lines []string) string {
	for len(lines) > firstLines+1+lastLines {
		var all, unknown int
		rest := lines[firstLines:]
		if n, _ := fmt.Sscanf(rest[0], between, &all, &unknown); n == 2 {
			rest = rest[1:]
		}
		for len(rest) > lastLines {
			if all++; strings.Contains(rest[0], "is not known") {
				unknown++
			}
			rest = rest[1:]
		}
		lines = slices.Concat(lines[:firstLines:firstLines], []string{fmt.Sprintf(between, all, unknown)}, rest)
	}
	return strings.Join(lines, "\n")
}
