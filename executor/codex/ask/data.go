package ask

import (
	"fmt"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

func set(data map[string]any, key, value string) {
	if value != "" {
		data[key] = value
	}
}

func setAny(data map[string]any, key string, value any) {
	if value != nil {
		data[key] = value
	}
}

// orNil keeps a member out where there is nothing in it.
func orNil(m map[string]any) any {
	if len(m) == 0 {
		return nil
	}
	return m
}

// inWords says where and why, and where that leads.
func inWords(data map[string]any) string {
	var b strings.Builder
	leads, _ := data["leads"].([]any)
	for _, lead := range leads {
		one, _ := lead.(map[string]any)
		fmt.Fprintf(&b, "\nA link: %s leads to %s", brief.Named(fmt.Sprint(one["path"])), brief.Named(fmt.Sprint(one["to"])))
	}
	if host, ok := data["network"].(map[string]any); ok {
		fmt.Fprintf(&b, "\nHost: %s (%s)", brief.Named(fmt.Sprint(host["host"])), brief.Named(fmt.Sprint(host["protocol"])))
	}
	if cwd, ok := data["cwd"].(string); ok {
		b.WriteString("\nDirectory: " + brief.Named(cwd))
	}
	if reason, ok := data["reason"].(string); ok {
		b.WriteString("\nReason: " + oneLine(reason))
	}
	return b.String()
}
