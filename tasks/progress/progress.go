// Package progress says of items, plans and ends of turns what the stream of a task shows, in
// the shapes that the documentation of package tasks lists.
package progress

import (
	"cmp"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
)

// Bounds of what progress repeats of an item.
const (
	TailSize    = 2 << 10 // the end of a command's output
	commandSize = 4 << 10
	mostChanges = 100 // files of one change
	mostSteps   = 100 // of a plan
	stepSize    = 1 << 10
)

// Item is the progress of a tool, in the shapes that the package comment
// lists. Values are those that JSON has, for the transports convert them.
func Item(item agent.Item, status string) map[string]any {
	data := map[string]any{"id": item.ID, "status": cmp.Or(item.Status, status)}
	set := func(key, value string) {
		if value != "" {
			data[key] = value
		}
	}
	if item.DurationMs > 0 {
		data["durationMs"] = item.DurationMs
	}
	switch item.Kind {
	case agent.KindCommand:
		data["type"] = "command"
		data["command"] = brief.Clip(item.Command, commandSize)
		set("cwd", brief.Clip(item.Cwd, commandSize))
		set("outputTail", brief.Tail(item.Output, TailSize))
		if item.ExitCode != nil {
			data["exitCode"] = *item.ExitCode
		}
	case agent.KindFileChange:
		data["type"] = "fileChange"
		data["changes"] = changes(item.Changes)
		if more := len(item.Changes) - mostChanges; more > 0 {
			data["more"] = more
		}
	case agent.KindMCP, agent.KindTool:
		data["type"] = "tool"
		set("server", brief.Clip(item.Server, stepSize))
		set("tool", brief.Clip(item.Tool, stepSize))
	case agent.KindWebSearch:
		data["type"] = "webSearch"
		set("query", brief.Clip(item.Query, commandSize))
	case agent.KindCompaction:
		data["type"] = "compaction"
	default:
		data["type"], data["item"] = "item", brief.Clip(item.Name, stepSize)
	}
	return data
}

func changes(all []agent.Change) []any {
	out := make([]any, 0, min(len(all), mostChanges))
	for _, c := range all[:min(len(all), mostChanges)] {
		out = append(out, map[string]any{"path": brief.Clip(c.Path, commandSize), "kind": c.Kind})
	}
	return out
}

// Plan is the progress of a plan.
func Plan(plan agent.PlanUpdated) map[string]any {
	shown := plan.Steps[:min(len(plan.Steps), mostSteps)]
	steps := make([]any, 0, len(shown))
	for _, s := range shown {
		steps = append(steps, map[string]any{"step": brief.Clip(s.Step, stepSize), "status": brief.Clip(s.Status, stepSize)})
	}
	data := map[string]any{"type": "plan", "steps": steps}
	if more := len(plan.Steps) - len(shown); more > 0 {
		data["more"] = more
	}
	if plan.Explanation != "" {
		data["explanation"] = brief.Clip(plan.Explanation, commandSize)
	}
	return data
}

// Turn is the end of a turn whose task goes on.
func Turn(outcome agent.Outcome, text string, calls *Calls) map[string]any {
	data := map[string]any{"type": "turn", "outcome": string(outcome), "text": brief.Clip(text, TailSize)}
	if how := calls.Data(); how != nil {
		data[keys.ModelCalls] = how
	}
	return data
}

// Failure is why a task failed, as its metadata have it.
func Failure(f *agent.Failure) map[string]any {
	data := map[string]any{"kind": string(f.Kind)}
	if f.Timer != "" {
		data["timer"] = f.Timer
	}
	if f.After > 0 {
		data["afterSeconds"] = f.After.Seconds()
	}
	if f.Code != "" {
		data["code"] = f.Code
	}
	if f.Limit != "" {
		data["limit"] = f.Limit
	}
	if !f.ResetsAt.IsZero() {
		data["resetsAt"] = f.ResetsAt.UTC().Format(time.RFC3339)
	}
	return data
}

// Usage adds a turn's tokens to those in the task's metadata.
func Usage(meta map[string]any, u agent.Usage) any {
	before, _ := meta[keys.Usage].(map[string]any)
	if before == nil && u == (agent.Usage{}) {
		return nil
	}
	data := map[string]any{}
	for key, n := range map[string]int64{
		"inputTokens": u.InputTokens, "cachedInputTokens": u.CachedInputTokens, "outputTokens": u.OutputTokens,
		"reasoningOutputTokens": u.ReasoningOutputTokens, "totalTokens": u.TotalTokens,
	} {
		earlier, _ := before[key].(float64) // as in JSON: it may come from the journal
		data[key] = earlier + float64(n)
	}
	return data
}

// ToolCalled names a tool as the platform knows it, and what it was called with.
func ToolCalled(item agent.Item) (name, input string) {
	switch item.Kind {
	case agent.KindCommand:
		return "command_execution", item.Subject()
	case agent.KindFileChange:
		var paths []string
		for _, c := range item.Changes {
			paths = append(paths, c.Kind+" "+c.Path)
		}
		return "file_change", strings.Join(paths, "\n")
	case agent.KindMCP:
		return "mcp__" + item.Server + "__" + item.Tool, item.Subject()
	case agent.KindTool:
		return "mcp__molecule__" + item.Tool, item.Subject()
	case agent.KindWebSearch:
		return "web_search", item.Subject()
	}
	return item.Name, ""
}

// Weight is about how many bytes an event of progress has in the journal.
func Weight(data any) int {
	switch data := data.(type) {
	case map[string]any:
		n := 300 // of the event itself
		for _, value := range data {
			n += Weight(value)
		}
		return n
	case []any:
		n := 0
		for _, value := range data {
			n += Weight(value)
		}
		return n
	case string:
		return len(data)
	}
	return 0
}
