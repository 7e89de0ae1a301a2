package activity

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/toolset"
)

// Rows is an [executor.Watcher] that makes a row of the log of activity of each tool that has finished.
type Rows struct {
	Record func(platform.Event) // does not block
	Redact func(string) string
}

// Watch implements [executor.Watcher].
func (r Rows) Watch(_ executor.Job, _ string, next executor.Observer) (observe executor.Observer, refused func(error)) {
	return func(e agent.Event) {
		if done, ok := e.(agent.ItemCompleted); ok && done.Item.Kind.IsTool() {
			r.Record(toolRow(done.Item, r.Redact))
		}
		next(e)
	}, nil
}

// mostArguments is how many bytes of a call a row shows. It is redacted before it is
// cut, for nobody knows a secret by its half; what is looked through for that is bounded,
// because the turn's own goroutine does it.
const mostArguments, mostLookedAt = 200, 4096

// toolRow is the row of a finished tool.
func toolRow(item agent.Item, redact func(string) string) platform.Event {
	method, about := snake(item.Name), item.Subject()
	switch item.Kind {
	case agent.KindFileChange:
		paths := make([]string, 0, len(item.Changes))
		for _, c := range item.Changes {
			paths = append(paths, c.Path)
		}
		about = strings.Join(paths, ", ")
	case agent.KindTool, agent.KindMCP:
		method = toolset.Reported(cmp.Or(item.Server, toolset.Server), item.Tool)
	}
	e := platform.Event{Type: "agent_log", Method: method, Summary: method, Status: "ok", DurationMS: item.DurationMs}
	about = brief.Cleared(about, mostLookedAt, func(text string) string { return redact(strings.Join(strings.Fields(text), " ")) })
	if about != "" && about != "{}" {
		e.Summary += ": " + strings.ToValidUTF8(about[:min(len(about), mostArguments)], "")
	}
	if item.Status == "failed" || item.Status == "declined" {
		e.Status, e.ErrorDetail = "error", failureOf(item)
	}
	return e
}

// failureOf says why a tool has failed, without its output.
func failureOf(item agent.Item) string {
	switch {
	case item.Status == "declined":
		return "declined"
	case item.ExitCode != nil:
		return fmt.Sprintf("exit code %d", *item.ExitCode)
	}
	return cmp.Or(item.Error, "failed")
}

// snake is a name of codex's in the way of the platform's.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
