package bridge

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// A Step is what a task tells of its progress, as docs/messages.md has it. Which members
// there are is said by the type.
type Step struct {
	Type   string `json:"type"`
	ID     string `json:"id"`
	Status string `json:"status"`

	Command    string   `json:"command"`
	ExitCode   *float64 `json:"exitCode"`
	DurationMs *float64 `json:"durationMs"`

	Changes []struct {
		Path string `json:"path"`
		Kind string `json:"kind"`
	} `json:"changes"`

	Server string     `json:"server"`
	Tool   string     `json:"tool"`
	Query  string     `json:"query"`
	Steps  []PlanStep `json:"steps"`
	More   int        `json:"more"`

	Text    string         `json:"text"`
	Outcome string         `json:"outcome"`
	Calls   map[string]any `json:"modelCalls"`
}

// A PlanStep is one of a plan.
type PlanStep struct {
	Step   string `json:"step"`
	Status string `json:"status"`
}

// The statuses of what a step tells of.
const inProgress = "inProgress"

// Running reports whether what it tells of goes on.
func (s Step) Running() bool { return s.Status == inProgress }

// Ended says how a command ended.
func (s Step) Ended() string {
	how := s.Status
	if s.ExitCode != nil {
		how = fmt.Sprintf("exit %.0f", *s.ExitCode)
	}
	if s.DurationMs != nil {
		how += " after " + (time.Duration(*s.DurationMs) * time.Millisecond).String()
	}
	return how
}

// Called is the tool that was called.
func (s Step) Called() string { return strings.TrimPrefix(s.Server+"."+s.Tool, ".") }

// Done reports whether the step of the plan is.
func (p PlanStep) Done() bool { return p.Status == "completed" }

// Begun reports whether the step of the plan is being done.
func (p PlanStep) Begun() bool { return p.Status == inProgress || p.Status == "in_progress" }

// StepOf returns what an event tells of progress, and false if it tells of none.
func StepOf(e a2a.Event) (step Step, ok bool) {
	update, ok := e.(*a2a.TaskStatusUpdateEvent)
	if !ok {
		return step, false
	}
	data := progressOf(update)
	if data == nil {
		return step, false
	}
	raw, err := json.Marshal(data)
	if err == nil {
		_ = json.Unmarshal(raw, &step) // of another form than we know, what fits is told
	}
	return step, true
}
