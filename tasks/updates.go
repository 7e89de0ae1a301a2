package tasks

import (
	"cmp"
	"unicode/utf8"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// Bounds of what progress repeats of an item.
const (
	tailSize    = 2 << 10 // the end of a command's output
	commandSize = 4 << 10
	mostChanges = 100 // files of one change
	mostSteps   = 100 // of a plan
	stepSize    = 1 << 10
)

// itemData is the progress of a tool, in the shapes that the package comment
// lists. Values are those that JSON has, for the transports convert them.
func itemData(item agent.Item, status string) map[string]any {
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
		data["command"] = clip(item.Command, commandSize)
		set("cwd", clip(item.Cwd, commandSize))
		set("outputTail", tail(item.Output, tailSize))
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
		set("server", clip(item.Server, stepSize))
		set("tool", clip(item.Tool, stepSize))
	case agent.KindWebSearch:
		data["type"] = "webSearch"
		set("query", clip(item.Query, commandSize))
	case agent.KindCompaction:
		data["type"] = "compaction"
	default:
		data["type"], data["item"] = "item", clip(item.Name, stepSize)
	}
	return data
}

func changes(all []agent.Change) []any {
	out := make([]any, 0, min(len(all), mostChanges))
	for _, c := range all[:min(len(all), mostChanges)] {
		out = append(out, map[string]any{"path": clip(c.Path, commandSize), "kind": c.Kind})
	}
	return out
}

func planData(plan agent.PlanUpdated) map[string]any {
	shown := plan.Steps[:min(len(plan.Steps), mostSteps)]
	steps := make([]any, 0, len(shown))
	for _, s := range shown {
		steps = append(steps, map[string]any{"step": clip(s.Step, stepSize), "status": clip(s.Status, stepSize)})
	}
	data := map[string]any{"type": "plan", "steps": steps}
	if more := len(plan.Steps) - len(shown); more > 0 {
		data["more"] = more
	}
	if plan.Explanation != "" {
		data["explanation"] = clip(plan.Explanation, commandSize)
	}
	return data
}

// tail returns the last bytes of s, at most n of them and whole characters.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	for len(s) > 0 && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return s
}

// clip returns the beginning of s, at most n bytes of it and whole characters,
// with an ellipsis in place of the rest.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:border(s, n)] + "…"
}
