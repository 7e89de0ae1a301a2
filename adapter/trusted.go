package adapter

// judge decides whether the operator's trust of the work directory is for the .codex that stands
// there. It is for the one that codex was first started with, of which the file note keeps which that
// was, also over restarts: another one may be a command's ([Setup.changed]), and what it settles would
// count from codex's next start on. Where it does not count, everything is as if it were not said.
// Without leave to write, as for checks, what is noted stays. The error is a [*Problem].
func (l *Launch) judge(note string, f settingsFolder, write bool) error {
	if note == "" || !l.Sandboxed { // without a sandbox, commands write any .codex
		return nil
	}
	l.note = note
	config, unread := l.own()
	own := level(config, l.trustedBy(l.names())) == "trusted"
	before, err := l.noted()
	l.had = l.everLinked(config, union(before.links, l.had), false)
	if err != nil && !write && !own && !l.trustsAbove(config) {
		return nil
	}
	if err != nil {
		l.distrust = notedBy(err)
		return l.distrust
	}
	now := before
	now.links = l.everLinked(config, l.had, len(unread) == 0)
	l.had = now.links
	switch {
	case !own:
		if len(unread) == 0 {
			now.which = ""
		}
	case f.which == "":
		l.distrust = &Problem{
			What: "it cannot be looked at, so that codex reads neither this nor AGENTS.md there, although it is trusted",
			Fix:  "let codex's user read the working directory",
		}
	case now.which == "":
		now.which = f.which
	case now.which != f.which:
		l.distrust = &Problem{
			What: "it is not the one that you have said is trusted (" + note + " notes which that was), and a command may have made it, so codex reads neither this nor AGENTS.md there",
			Fix:  "stop the runtime, whose commands may write it, look at what is in it and, if you trust this one, remove " + note,
		}
	}
	if write && now.text() != before.text() {
		if err := l.keep(now); err != nil {
			return notedBy(err)
		}
	}
	return nil
}

// Distrusted says why what the work directory brings does not count although the operator has said
// that it is trusted; nil where it does, or brings nothing.
func (l Launch) Distrusted() *Problem {
	var all []*Problem
	if l.distrust != nil && len(l.Project.Settles) > 0 {
		all = append(all, &Problem{What: l.settingsDir() + ": " + l.distrust.What, Fix: l.distrust.Fix})
	}
	config, _ := l.own()
	for _, one := range l.inTheWay(config) {
		all = append(all, one.problem(l.note))
	}
	if len(all) == 0 {
		return nil
	}
	for _, more := range all[1:] { // what is done for one counts for all of them
		all[0].What += "; and " + more.What
	}
	return all[0]
}
