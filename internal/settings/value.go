package settings

import "strings"

// Value is what a variable holds; of two equal names the last one counts.
func Value(environ []string, name string) (value string) {
	for _, kv := range environ {
		if held, ok := strings.CutPrefix(kv, name+"="); ok {
			value = strings.TrimSpace(held)
		}
	}
	return value
}

// The doors by which codex gets the workspace tools.
const (
	ToolsDynamic = "dynamic"
	ToolsMCP     = "mcp"
	ToolsOff     = "off"
)
