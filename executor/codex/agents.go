package codex

// EndAgents ends the subagents that work in the conversation of a thread, also those that
// go on after a turn that ended well, with their commands. It returns how many they were.
func (d *Driver) EndAgents(thread string) int {
	on, _ := d.child.Health()
	if on == nil || thread == "" {
		return 0
	}
	return d.ender.EndAgents(on, "", thread)
}

// endLate ends subagents that have begun after the turn was ended that they work for.
func (d *Driver) endLate(root string) {
	if on, _ := d.child.Health(); on != nil {
		d.ender.EndAgents(on, root, "")
	}
}
