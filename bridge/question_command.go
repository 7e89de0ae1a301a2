package bridge

import (
	"regexp"
	"strings"
)

// command is what a person at a terminal answers the question with. The task is its id. What is
// still to be chosen in it is quoted: pasted as it stands, it must not be an answer.
func (q Question) command(task string) string {
	words := []string{"runtime task respond", word(task), word(q.RequestID)}
	fields := q.Fields()
	for _, field := range fields {
		words = append(words, "--answer", quoted(field.ID+"=…"))
	}
	if decisions := q.Decisions(); len(fields) == 0 && len(decisions) > 0 {
		words = append(words, "--decision", quoted(strings.Join(decisions, "|")))
	}
	return strings.Join(words, " ")
}

// Decisions lists the choices that are words; a proposed amendment is for programs.
func (q Question) Decisions() []string {
	choices, _ := q.Payload["choices"].([]any)
	var words []string
	for _, c := range choices {
		if word, ok := c.(string); ok {
			words = append(words, word)
		}
	}
	return words
}

// bare is what no shell makes anything of.
var bare = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]*$`)

// word is an id as one word of a shell. One that would be an option is none of a runtime's.
func word(id string) string {
	if bare.MatchString(id) {
		return id
	}
	return quoted(id)
}

// quoted is text as one word of a shell.
func quoted(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
