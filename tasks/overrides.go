package tasks

// readOverrides reads what a message asks for beside its text. What it must not have
// counts only if the message is new: what was accepted once is known by its id,
// whatever the settings say by now.
func (e *Engine) readOverrides(in *incoming) {
	in.options, in.refused = e.cfg.Bounds.Read(in.message.Metadata)
	if in.refused == nil && in.from.IsPeer() {
		in.refused = e.cfg.Bounds.PlainFolder(in.options.Cwd)
	}
	if in.refused == nil {
		in.notify, in.refused = e.readTarget(in)
	}
}
