package terminal

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/Molecule-AI/molecule-codex-runtime/bridge"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// How many rows what is so now may have.
const (
	mostPlan    = 8
	mostRunning = 4
	mostNoted   = 4
	// lowest is the height of a terminal below which there is only the line, and what it is for.
	lowest = 14
)

// below is what is so now, and where the cursor is in it.
func (s *screen) below() (rows []string, at cursor) {
	if s.mode == over {
		return nil, at
	}
	if open := s.scene.unfinished(); open != "" {
		rows = append(rows, open)
	}
	var more []string
	if s.height >= lowest {
		more = s.doings()
	}
	if more = append(more, s.wanted()...); len(more) > 0 && s.height >= lowest {
		rows = append(rows, "")
	}
	rows = append(rows, more...)
	line, at := s.draft.rows(s.look.marks.prompt)
	if room := max(s.height-1, 1); len(line) > room {
		at.row = max(at.row-len(line)+room, 0)
		line = line[len(line)-room:]
	}
	over := len(rows) + len(line) + 1 - s.height
	rows = rows[min(max(over, 0), len(rows)):] // of what has no room the beginning is left out
	at.row += len(rows)
	rows = append(rows, line...)
	if s.height > len(rows) {
		rows = append(rows, s.bottom())
	}
	for i, row := range rows {
		rows[i] = ansi.Truncate(row, max(s.width-1, 1), "")
	}
	at.column = min(at.column, max(s.width-2, 0))
	return rows, at
}

// doings are the plan and what runs.
func (s *screen) doings() []string {
	var rows []string
	for _, step := range shownOf(s.scene.plan) {
		mark, l := s.look.marks.open, faint
		switch {
		case step.Done():
			mark = s.look.marks.done
		case step.Begun():
			mark, l = s.look.marks.doing, strong
		}
		rows = append(rows, s.look.paint(l, s.fit("  "+mark+" "+step.Step)))
	}
	running := s.scene.running
	for _, a := range running[:min(len(running), mostRunning)] {
		rows = append(rows, s.look.paint(strong, s.fit(a.text, "  "+age(s.scene.now(), a.since))))
	}
	if more := len(running) - mostRunning; more > 0 {
		rows = append(rows, s.look.paint(faint, s.fit(fmt.Sprintf("and %d more", more))))
	}
	return rows
}

// shownOf is as much of a plan as is shown: what is being done, and what comes behind it.
func shownOf(plan []bridge.PlanStep) []bridge.PlanStep {
	if len(plan) <= mostPlan {
		return plan
	}
	first := 0
	for first < len(plan)-mostPlan && plan[first].Done() {
		first++
	}
	return plan[first : first+mostPlan]
}

// wanted says what the line is for, and what became of what stood there.
func (s *screen) wanted() []string {
	var rows []string
	if s.note != "" {
		for _, part := range fold(s.note, s.width-1) {
			rows = append(rows, s.look.paint(faint, part))
		}
		rows = rows[:min(len(rows), mostNoted)]
	}
	d := s.talk.dialogue
	switch {
	case s.mode == leaving:
		return append(rows, s.look.paint(asks, s.fit("[c] cancel the task  [l] leave it at work  [Esc] stay")))
	case d == nil || d.settled || !s.calm: // what is shown can be chosen
		return rows
	}
	if more := len(s.scene.asks) - 1; more > 0 {
		rows = append(rows, s.look.paint(faint, s.fit(fmt.Sprintf("%d more questions wait behind this one", more))))
	}
	for _, part := range fold(brief.Plain(offer(d)), s.width-1) {
		rows = append(rows, s.look.paint(asks, part))
	}
	return rows
}

// offer is how the question is answered.
func offer(d *dialogue) string {
	var words []string
	if f := d.field(); f != nil && len(d.fields) > 1 {
		words = append(words, strings.Join(strings.Fields(f.Text), " "))
	}
	return strings.Join(append(append(words, d.offers()...), d.hint()), "  ")
}

// bottom is the row of what is always worth knowing.
func (s *screen) bottom() string {
	words := append([]string{brief.Plain(s.cfg.Task.TaskID), s.doing()}, s.cost()...)
	return s.look.paint(faint, s.fit(strings.Join(append(words, "Ctrl-C to leave"), s.look.marks.between)))
}

// cost is what the task has taken so far: time, and tokens as far as they are known.
func (s *screen) cost() (words []string) {
	if created := s.cfg.Task.CreatedAt; created > 0 {
		words = append(words, age(s.scene.now(), time.UnixMicro(int64(created*1e6))))
	}
	if s.scene.tokens > 0 {
		words = append(words, thousands(s.scene.tokens)+" tokens")
	}
	return words
}

// doing is how the task stands, in a word or two.
func (s *screen) doing() string {
	switch {
	case s.away != nil:
		return "the runtime is away, coming back to it"
	case s.talk.dialogue != nil:
		return "asks"
	case s.scene.login != "":
		return "waits for a login"
	case s.scene.queued != "":
		return "waits, " + s.scene.queued + " ahead"
	case len(s.scene.state) == 0:
		return "starting"
	}
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(string(s.scene.state), "TASK_STATE_"), "_", " "))
}

func thousands(n float64) string {
	if n < 1000 {
		return fmt.Sprintf("%.0f", n)
	}
	return fmt.Sprintf("%.1fk", n/1000)
}

// fit is a text in one row, with what must be seen of it behind.
func (s *screen) fit(text string, behind ...string) string {
	end := strings.Join(behind, "")
	text = untabbed(strings.ReplaceAll(text, "\n", " "))
	return ansi.Truncate(text, max(s.width-1-ansi.StringWidth(end), 1), s.look.marks.more) + end
}
