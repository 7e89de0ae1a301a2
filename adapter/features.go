package adapter

// Quiet returns the arguments that keep codex from reporting usage and from
// looking for updates: the version is pinned, and what a workspace does is
// nobody else's business.
func Quiet() []string {
	return append(override("analytics.enabled", "false"), override("check_for_update_on_startup", "false")...)
}

// Lean returns the arguments that switch off features of codex which serve a
// person at a terminal or a desktop. With them a turn starts a few
// milliseconds sooner, codex is smaller, and the model has fewer tools to be
// distracted by. RUNTIME_CODEX_FEATURES=codex leaves them out. What a
// workspace agent uses stays on: the shell, patches, images to look at,
// skills, MCP servers, hooks (the user's own guard rails) and compaction.
func Lean() []string {
	features := lean()
	args := make([]string, 0, 2*len(features))
	for _, f := range features {
		args = append(args, override("features."+f, "false")...)
	}
	return args
}

func lean() []string {
	return []string{
		// A copy of the shell's state for each thread, written under CODEX_HOME.
		"shell_snapshot",
		// The plugin market, connected apps and advertising tools for them.
		"apps", "plugins", "plugin_sharing", "remote_plugin", "tool_suggest",
		// Searching for skills beyond those that are installed.
		"skill_search",
		// Goals and subagents run turns that nobody who sent a message asked for.
		"goals", "multi_agent",
		// A browser, a desktop and a canvas, none of which is here.
		"browser_annotation_api", "browser_use", "browser_use_external", "browser_use_full_cdp_access",
		"computer_use", "image_generation", "in_app_browser",
	}
}
