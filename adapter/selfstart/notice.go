package selfstart

import (
	"cmp"
	"context"
)

// tellUser tells the user of the canvas who has come to the end of a task, and how what
// it says begins. That a crash has it told twice or never matters little; it is tried once.
func (r *results) tellUser(ctx context.Context, batch []result) {
	limited, cancel := context.WithTimeout(ctx, pollLimit)
	defer cancel()
	names := map[string]string{}
	for _, d := range batch {
		who, known := names[d.Target]
		if !known {
			who = r.cfg.Name(limited, d.Target)
			names[d.Target] = who
		}
		if err := r.cfg.Platform.Notify(limited, notice(who, d)); err != nil {
			r.cfg.Logger.Info("the user was not told of a delegation's end", "err", err)
			return
		}
	}
}

// notice is what the user reads of a result. The words in it are another agent's, and
// are marked as such.
func notice(who string, d result) string {
	who = cmp.Or(who, "A workspace")
	said := ""
	if d.Words != "" {
		said = ": “" + d.Words + "”"
	}
	if d.Status == "failed" {
		return "The task that was delegated to " + who + " has failed" + cmp.Or(said, ".")
	}
	return who + " has finished the task that was delegated to it" + cmp.Or(said, ".")
}
