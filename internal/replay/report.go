package replay

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// A Report is what came of playing a record.
type Report struct {
	File     string `json:"file,omitempty"`
	OK       bool   `json:"ok"`                 // everything has ended as recorded, and nothing else was asked
	Cut      int    `json:"cutLine,omitempty"`  // the last line, if that was cut off
	Headless bool   `json:"headless,omitempty"` // runs were left out whose beginning is gone
	Runs     []*Run `json:"runs"`
}

// A Run is one start of the program that has recorded.
type Run struct {
	OK          bool         `json:"ok"`
	Runtime     string       `json:"runtime"`
	Codex       string       `json:"codex"`
	Began       time.Time    `json:"began"`
	FirstLine   int          `json:"firstLine"`
	LastLine    int          `json:"lastLine"`
	Children    int          `json:"children"` // starts of codex
	Lost        int          `json:"entriesLost,omitempty"`
	Tasks       []*Task      `json:"tasks"`
	Divergences []Divergence `json:"divergences"`
}

// A Task is what a message has become.
type Task struct {
	OK        bool       `json:"ok"`
	Message   string     `json:"message"` // the job's id in the record
	Context   string     `json:"context,omitempty"`
	Line      int        `json:"line"` // where it was sent
	State     string     `json:"state"`
	Recorded  End        `json:"recorded"`
	Now       End        `json:"now"`
	Artifacts []Artifact `json:"artifacts,omitempty"`
	Times     Times      `json:"recordedTimes"`
}

// An End is how a job ended. Outcome is empty if it has not.
type End struct {
	Outcome string `json:"outcome,omitempty"`
	Failure string `json:"failure,omitempty"` // its kind
	Reason  string `json:"reason,omitempty"`  // in words
}

// An Artifact is one of a task's.
type Artifact struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
	Text string `json:"text,omitempty"`
}

// Times are those of the record, in milliseconds; those that are not known are left out.
type Times struct {
	Waited    *float64 `json:"waitedMs,omitempty"`    // until the turn began
	FirstText *float64 `json:"firstTextMs,omitempty"` // from there until the first text
	Took      *float64 `json:"tookMs,omitempty"`      // from there until the end
}

// A Divergence is where the program does something else than it did.
type Divergence struct {
	Line int    `json:"line"`
	Kind string `json:"kind"` // missing, extra, differs, end, refused, lost, damaged, stop
	What string `json:"what"`
}

// report sums up what was played.
func (p *player) report() (*Run, error) {
	r := &Run{Runtime: p.run.Runtime, Codex: p.run.Codex, Divergences: p.shown, Lost: p.run.lost(), Tasks: []*Task{}}
	if p.shown == nil {
		r.Divergences = []Divergence{}
	}
	if n := len(p.run.entries); n > 0 {
		r.Began, r.FirstLine, r.LastLine = p.run.entries[0].Time, p.run.entries[0].Number, p.run.entries[n-1].Number
	}
	for _, e := range p.run.entries {
		if e.Event == "child" {
			r.Children++
		}
	}
	r.OK = len(p.shown) == 0
	for _, o := range p.events {
		if end, ok := o.event.(executor.Ended); ok {
			p.ends[o.job] = end
		}
	}
	for _, job := range p.order {
		t, err := p.task(job)
		if err != nil {
			return nil, err
		}
		r.Tasks = append(r.Tasks, t)
		r.OK = r.OK && t.OK
	}
	return r, nil
}

// task sums up what a message has become.
func (p *player) task(job string) (*Task, error) {
	at := p.states[job]
	t := &Task{Message: job, Context: at.context, Line: at.line, Times: at.times()}
	if at.end != nil {
		t.Recorded = endOf(at.end.Outcome, at.end.Failure)
	}
	now, ended := p.ends[job]
	if ended {
		t.Now = endOf(now.Outcome, now.Failure)
	}
	t.OK = ended == (at.end != nil) && (!ended || otherwise(*at.end, now) == "")
	id := p.tasks[job]
	if id == "" {
		return t, nil
	}
	task, err := p.stage.engine.GetTask(p.stage.ctx, &a2a.GetTaskRequest{ID: a2a.TaskID(id)})
	if err != nil {
		return nil, fmt.Errorf("the task of message %s: %w", job, err)
	}
	t.State = string(task.Status.State)
	for _, a := range task.Artifacts {
		out := Artifact{ID: string(a.ID), Name: a.Name}
		for _, part := range a.Parts {
			out.Text += part.Text()
		}
		t.Artifacts = append(t.Artifacts, out)
	}
	return t, nil
}

func endOf(o executor.Outcome, f *executor.Failure) End {
	end := End{Outcome: string(o)}
	if f != nil {
		end.Failure, end.Reason = string(f.Kind), f.Message
	}
	return end
}

func (t *timing) times() Times {
	return Times{
		Waited: between(t.submitted, t.started), FirstText: between(t.started, t.firstText), Took: between(t.started, t.ended),
	}
}

func between(from, to time.Time) *float64 {
	if from.IsZero() || to.IsZero() {
		return nil
	}
	ms := float64(to.Sub(from).Microseconds()) / 1000
	return &ms
}

func decodeInto(raw json.RawMessage, into any) bool { return json.Unmarshal(raw, into) == nil }
