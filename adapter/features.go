package adapter

import "slices"

// Always returns the arguments that every codex is started with: it reports no
// usage, for what a workspace does is its own business, it looks for no
// update, for its version is pinned, it has no goals, and is not woken by subagents, either of
// which starts turns without a message, past the turn lock, and in its sandbox commands
// do not write the temp directory of all users: they have one of their own, TMPDIR.
// It takes no snapshot of the user's shell: for that it runs the shell's files outside of
// its sandbox, and what those read in their turn may be written by commands. Commands read
// the files of a login shell by themselves. And it installs no MCP servers that a skill asks
// for: skills may lie where commands write. It offers no model its older set of subagent tools,
// which reach the threads of all conversations: it does so to models that it does not know, and
// those that have begun with them keep them where the feature is switched off. The newer set
// knows no such depth. And nothing is remembered of conversations for others, here or in a codex
// of the user's: the marks of other agents' words would be lost in it.
func Always() []string {
	return slices.Concat(
		override("analytics.enabled", "false"),
		override("check_for_update_on_startup", "false"),
		override("agents.max_depth", "0"),
		override("features.goals", "false"),
		override("features.wake_on_agent_messages", "false"),
		override("features.memories", "false"),
		override("memories.generate_memories", "false"),
		override("features.shell_snapshot", "false"),
		override("features.skill_mcp_dependency_install", "false"),
		override("sandbox_workspace_write.exclude_slash_tmp", "true"),
	)
}

// Lean returns the arguments that switch off what calls out by itself or costs
// time for nothing, and switch on the plan tool, without which no plan is ever
// shown. RUNTIME_CODEX_FEATURES=codex leaves them out. docs/codex-features.md
// has the reasons and the numbers.
func Lean() []string {
	args := override("tools.update_plan.enabled", "true")
	for _, feature := range lean() {
		args = append(args, override("features."+feature, "false")...)
	}
	return args
}

func lean() []string { return []string{"plugins", "apps", "skill_search"} }
