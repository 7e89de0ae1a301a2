package adapter

import (
	"regexp"
	"strings"
)

// DefaultModel is the platform's for codex. It counts where nobody names a model
// and a config.toml that is left over does.
const DefaultModel = "gpt-5.5"

// platformServer is the name of an MCP server of the platform.
var platformServer = regexp.MustCompile(`^molecule[A-Za-z0-9_-]*$`)

// leftovers returns the arguments that take back what the config.toml of a
// workspace says, and what codex would mix with what we say. An override cannot
// remove a key, so each is given the value that it has without the file, and only
// where the file has it.
func (l Launch) leftovers() []string {
	var args []string
	if l.Provider.Login {
		if l.Provider.BaseURL == "" && topLevel(l.UserConfig, "openai_base_url") {
			args = append(args, override("openai_base_url", tomlString(chatGPTModel))...)
		}
		if l.Provider.BaseURL == "" && topLevel(l.UserConfig, "chatgpt_base_url") {
			args = append(args, override("chatgpt_base_url", tomlString(chatGPTBackend))...)
		}
	}
	if model := l.Model(); model != "" {
		args = append(args, override("model", tomlString(model))...)
	}
	return args
}

// servers returns the arguments that switch the platform's MCP servers off. One that another
// runtime has written is not here, and codex would wait for it; one that an interactive
// codex uses would be started for each thread, and offer what we offer.
func (l Launch) servers(config map[string]any) (args []string) {
	for _, s := range l.ownServers(config) {
		if platformServer.MatchString(s.name) {
			args = append(args, override("mcp_servers."+s.name+".enabled", "false")...)
		}
	}
	return args
}

// Model is what threads are started with; empty leaves it to codex.
func (l Launch) Model() string {
	switch {
	case l.Provider.Model != "" || !l.Workspace || !topLevel(l.UserConfig, "model"):
		return l.Provider.Model
	}
	return DefaultModel
}

// topLevel reports whether a config.toml sets a key outside its tables.
func topLevel(config, key string) bool {
	for line := range strings.Lines(config) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			return false
		}
		name, _, ok := strings.Cut(line, "=")
		if ok && strings.Trim(strings.TrimSpace(name), `"'`) == key {
			return true
		}
	}
	return false
}
