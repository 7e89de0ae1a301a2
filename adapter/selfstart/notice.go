package selfstart

import (
	"context"
	"regexp"
	"strings"
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

// notice is what the user reads of a result. The name and the words are another agent's,
// and stand in quotes.
func notice(who string, d result) string {
	name, said := "A workspace", "."
	if who != "" {
		name = quoted(who)
	}
	if d.Words != "" {
		said = ": " + quoted(d.Words)
	}
	switch {
	case d.Status != "failed":
		return name + " has finished the task that was delegated to it" + said
	case who == "":
		name = "a workspace"
	}
	return "The task that was delegated to " + name + " has failed" + said
}

// markup is what may end the quotes, or be more than text where the canvas shows Markdown.
var markup = regexp.MustCompile("[][<>*_~`\\\\“”]|://|www\\.")

// quoted is a line of another agent's, as nothing but text.
func quoted(text string) string {
	if markup.MatchString(text) {
		text = "`" + strings.ReplaceAll(text, "`", "'") + "`"
	}
	return "“" + text + "”"
}
