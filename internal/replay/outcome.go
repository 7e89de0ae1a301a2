package replay

import (
	"fmt"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// timing is what the record has of a job.
type timing struct {
	line      int
	context   string
	submitted time.Time
	started   time.Time
	firstText time.Time
	ended     time.Time
	end       *executor.RecordedEnd
}

// outcome waits for what has become of a job to become of it again.
func (p *player) outcome(e *entry) {
	switch e.Event {
	case executor.RecordStarted:
		if turn, err := decode[executor.RecordedTurn](e); err == nil {
			p.started(e, turn)
		}
	case executor.RecordAsked:
		p.told(e, "is asked something", func(event executor.Event, id string) bool {
			asked, ok := event.(executor.Asked)
			return ok && asked.ID == id
		})
	case executor.RecordSteered:
		p.told(e, "becomes part of the running turn", func(event executor.Event, _ string) bool {
			_, ok := event.(executor.Steered)
			return ok
		})
	case executor.RecordUnsteered:
		p.told(e, "gets a turn of its own", func(event executor.Event, _ string) bool {
			_, ok := event.(executor.Unsteered)
			return ok
		})
	case executor.RecordEnded:
		if end, err := decode[executor.RecordedEnd](e); err == nil {
			p.ended(e, end)
		}
	}
}

func (p *player) started(e *entry, turn executor.RecordedTurn) {
	if t := p.states[turn.Job]; t != nil && t.started.IsZero() {
		t.started = e.Time
	}
	p.turns[turn.Turn] = turn.Job
	p.find(turn.Job, fmt.Sprintf("its attempt %d begins", turn.Attempt), func(event executor.Event) bool {
		started, ok := event.(executor.Started)
		return ok && started.Attempt == turn.Attempt
	})
}

// told waits for an event that a fact of the record is about.
func (p *player) told(e *entry, what string, is func(executor.Event, string) bool) {
	fact, err := decode[executor.RecordedFact](e)
	if err == nil {
		p.find(fact.Of, what, func(event executor.Event) bool { return is(event, fact.ID) })
	}
}

// ended waits for the end of a job, and compares it.
func (p *player) ended(e *entry, was executor.RecordedEnd) {
	if t := p.states[was.Job]; t != nil {
		t.ended, t.end = e.Time, &was
	}
	event := p.find(was.Job, "it ends", func(event executor.Event) bool { _, ok := event.(executor.Ended); return ok })
	now, ok := event.(executor.Ended)
	if !ok {
		return
	}
	p.ends[was.Job] = now
	if d := otherwise(was, now); d != "" {
		p.diverge("end", "the message "+was.Job+" ends otherwise: "+d)
	}
}

// otherwise says how an end differs from that of the record.
func otherwise(was executor.RecordedEnd, now executor.Ended) string {
	var d []string
	if was.Outcome != now.Outcome {
		d = append(d, fmt.Sprintf("recorded %s, now %s", was.Outcome, now.Outcome))
	}
	if a, b := kindOf(was.Failure), kindOf(now.Failure); a != b {
		d = append(d, fmt.Sprintf("recorded the failure %q, now %q", a, b))
	}
	if a, b := textOf(was.Messages), textOf(now.Messages); !fits(a, b) {
		d = append(d, fmt.Sprintf("recorded the text %s, now %s", short(a), short(b)))
	}
	return strings.Join(d, "; ")
}

func kindOf(f *executor.Failure) string {
	if f == nil {
		return ""
	}
	return string(f.Kind)
}

func textOf(messages []executor.AgentMessage) string {
	var all strings.Builder
	for _, m := range messages {
		all.WriteString(m.Text)
	}
	return all.String()
}

// find waits for an event of a job and takes it out of those that were seen.
func (p *player) find(job, what string, is func(executor.Event) bool) (found executor.Event) {
	if p.states[job] == nil && p.tasks[job] == "" { // of before the record
		return nil
	}
	if !p.until(p.wait, func() bool {
		for i, o := range p.events {
			if o.job == job && is(o.event) {
				found = o.event
				p.events = append(p.events[:i], p.events[i+1:]...)
				return true
			}
		}
		return false
	}) {
		p.diverge("missing", fmt.Sprintf("of the message %s the record has here that %s, and that does not happen%s", job, what, p.instead()))
	}
	return found
}

// clock notes the times that the record has.
func (p *player) clock(e *entry) {
	if e.Receive == nil || e.Method != "item/agentMessage/delta" {
		return
	}
	var d struct {
		TurnID string `json:"turnId"`
	}
	if decodeInto(e.Params, &d) {
		if t := p.states[p.turns[d.TurnID]]; t != nil && t.firstText.IsZero() {
			t.firstText = e.Time
		}
	}
}
