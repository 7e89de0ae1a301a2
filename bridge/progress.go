package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// recent is how many of the newest events an answer has.
const recent = 20

// A Progress is an event of a task in short.
type Progress struct {
	Source    string   `json:"source_event_type"` // status/…, progress/…, artifact/…, error or usage
	Status    *string  `json:"normalized_status"` // of the task, where it changed
	Summary   string   `json:"payload_summary"`
	CreatedAt *float64 `json:"created_at"`

	artifact a2a.ArtifactID // whose pieces are one event
}

// A digest is what is remembered of the events of a task.
type digest struct {
	newest []Progress
	at     *float64       // the time of the newest event that has one
	meta   map[string]any // of the task, as its newest status has it
}

// add takes an event. Pieces of a text that follow each other are one event.
func (d *digest) add(e a2a.Event) {
	var p Progress
	switch e := e.(type) {
	case *a2a.TaskStatusUpdateEvent:
		if e.Status.Timestamp != nil {
			at := seconds(e.Status.Timestamp)
			d.at = &at
		}
		p = d.status(e)
	case *a2a.TaskArtifactUpdateEvent:
		p = Progress{Source: "artifact/" + cmp.Or(e.Artifact.Name, "artifact"), Summary: Text(e.Artifact.Parts), artifact: e.Artifact.ID}
		if p.Summary == "" && e.Append { // the end of a text, and nothing more
			return
		}
		if last := len(d.newest) - 1; last >= 0 && e.Append && d.newest[last].artifact == e.Artifact.ID {
			d.newest[last].add(p.Summary)
			return
		}
	default: // the task as it is, where its events are gone
		return
	}
	d.append(p)
}

func (d *digest) append(p Progress) {
	p.CreatedAt = d.at
	p.Summary = clipped(p.Summary)
	if len(d.newest) == recent {
		d.newest = d.newest[1:]
	}
	d.newest = append(d.newest, p)
}

// mostKept bounds the text that is collected of an event before it is cut.
const mostKept = 4 * eventLength

func clipped(text string) string { return strings.ToValidUTF8(text[:min(len(text), mostKept)], "") }

// add puts a piece behind the text of an event.
func (p *Progress) add(piece string) {
	if len(p.Summary) < mostKept {
		p.Summary += clipped(piece)
	}
}

// progressOf returns what an event says of progress, nil if it is a change of the
// state: those have the task's metadata.
func progressOf(e *a2a.TaskStatusUpdateEvent) map[string]any {
	if e.Metadata != nil || e.Status.Message == nil {
		return nil
	}
	for _, part := range e.Status.Message.Parts {
		data, _ := part.Data().(map[string]any)
		if kind, ok := data["type"].(string); ok && kind != "question" {
			return data
		}
	}
	return nil
}

// status is a change of the state, or progress within it. What the task's metadata say that its words do
// not stands with it: in front of it what went wrong and what the turns have used, for programs, and where
// there are no words in their place what is new about the turn.
func (d *digest) status(e *a2a.TaskStatusUpdateEvent) Progress {
	status := statusOf(&a2a.Task{Status: e.Status})
	if data := progressOf(e); data != nil {
		kind, _ := data["type"].(string)
		return Progress{Source: "progress/" + kind, Summary: asJSON(data)}
	}
	for _, one := range []struct{ key, source string }{{keyUsage, "usage"}, {keyFailure, "error"}} {
		if value, ok := e.Metadata[one.key].(map[string]any); ok && !reflect.DeepEqual(value, d.meta[one.key]) {
			d.append(Progress{Source: one.source, Summary: asJSON(value)})
		}
	}
	summary := Said(e.Status.Message)
	if summary == "" {
		summary = d.turns(e.Metadata)
	}
	if e.Metadata != nil {
		d.meta = e.Metadata
	}
	return Progress{Source: "status/" + status, Status: &status, Summary: summary}
}

// turns is what is new in metadata about the task's turn, or why there is none.
func (d *digest) turns(meta map[string]any) string {
	changed := map[string]any{}
	for _, key := range []string{keyTurn, keyAhead, keyTurnID, keyThreadID, keyCwd, keyAttempt, keyInterrupted, keyReplaced, keyHeld} {
		if value := meta[key]; value != nil && !reflect.DeepEqual(value, d.meta[key]) {
			changed[key] = value
		}
	}
	if len(changed) == 0 {
		return ""
	}
	return asJSON(changed)
}

func asJSON(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // it came as JSON
		return ""
	}
	return b.String()
}

// summaries returns the events, and the newest of them in a line.
func (d *digest) summaries() (events []Progress, last *string) {
	events = make([]Progress, 0, len(d.newest))
	for _, p := range d.newest {
		p.Summary = brief.Line(p.Summary, eventLength)
		events = append(events, p)
	}
	for i := len(events) - 1; i >= 0 && last == nil; i-- {
		if p := events[i]; p.Status == nil && p.Source != "usage" && p.Source != "error" || i == 0 {
			last = short(p.Source+": "+p.Summary, progressLength)
		}
	}
	return events, last
}

// tail is how many events before the newest are read of a task that runs: a text of
// many pieces before them is not read again for each look.
const tail = 500

// lookTimeout bounds the reading of events: those that have come by then are enough.
const lookTimeout = 10 * time.Second

// look adds to what is said of a task what its events say.
func (c *Client) look(ctx context.Context, of *a2a.Task, t *Task) error {
	d := &digest{}
	limited, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	if err := c.replay(limited, of, d); err != nil && (ctx.Err() != nil || limited.Err() == nil) {
		return err
	}
	t.Recent, t.LastProgress = d.summaries()
	return nil
}

// replay reads the events of a task as far as they are there now.
func (c *Client) replay(ctx context.Context, of *a2a.Task, d *digest) error {
	after, end := beginning, ""
	if !of.Status.State.Terminal() {
		for e, err := range c.subscribe(ctx, of.ID, "", nil) {
			if ended(err) {
				break // it has ended meanwhile: all its events are there
			}
			if err != nil {
				return err
			}
			end = e.id
			break
		}
		after = before(end, tail)
		if end == beginning || after == end {
			return nil
		}
	}
	return c.replayFrom(ctx, of.ID, after, end, d)
}

func (c *Client) replayFrom(ctx context.Context, id a2a.TaskID, after, end string, d *digest) error {
	for e, err := range c.subscribe(ctx, id, after, nil) {
		if err != nil {
			return err
		}
		if _, whole := e.event.(*a2a.Task); whole && after != beginning { // the epoch has changed in between
			return c.replayFrom(ctx, id, beginning, end, d)
		}
		d.add(e.event)
		if end != "" && number(e.id) >= number(end) {
			break
		}
	}
	return nil
}

// number is that of an event in its task. Numbers go on over epochs.
func number(id string) int {
	_, seq, _ := strings.Cut(id, ".")
	n, err := strconv.Atoi(seq)
	if err != nil {
		return -1
	}
	return n
}

// before returns the id of the event n before the one with an id, or [beginning].
func before(id string, n int) string {
	epoch, _, _ := strings.Cut(id, ".")
	if number(id) <= n {
		return beginning
	}
	return epoch + "." + strconv.Itoa(number(id)-n)
}
