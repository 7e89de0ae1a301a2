package agent

import (
	"strings"
	"unicode"
)

// The decisions that an [Answer] can make.
const (
	Accept           = "accept"
	AcceptForSession = "acceptForSession"
	Decline          = "decline"
	Cancel           = "cancel"
)

// Decision returns the decision that the answer makes: one of the strings, or
// an object of its data. Data that says something about it counts before words.
func (a Answer) Decision() (any, error) {
	data, isObject := a.Data.(map[string]any)
	if isObject {
		for _, key := range []string{"decision", "action"} {
			switch value := data[key].(type) {
			case nil:
			case string:
				if word, ok := DecisionIn(value); ok {
					return word, nil
				}
				return nil, NotUnderstood("The decision %q is not known.", clipped(value, 64))
			case map[string]any:
				return value, nil
			default:
				return nil, NotUnderstood("The decision must be a text or an object.")
			}
		}
	}
	_, names := data["id"]
	if alone := a.Data == nil || names && len(data) == 1; !alone && a.Text != "" {
		return nil, NotUnderstood("The data is no answer, and beside it no words are.")
	}
	if word, ok := DecisionIn(a.Text); ok {
		return word, nil
	}
	return nil, NotUnderstood("That was not understood as an answer.")
}

// Declines reports whether an answer to a question of a kind allows nothing, whatever that is
// about. What the model, or a server, wants to know can have a "no" for its content.
func (a Answer) Declines(kind string) bool {
	if kind == "input" || kind == "form" {
		return false
	}
	word, err := a.Decision()
	return err == nil && (word == Decline || word == Cancel)
}

// DecisionIn returns the decision that is meant by plain words. Only whole answers
// count: a sentence that has a yes in it may mean anything, and a question is no answer.
func DecisionIn(text string) (string, bool) {
	if strings.ContainsAny(text, "?？؟") {
		return "", false
	}
	switch normalised(text) {
	case "accept", "accepted", "yes", "y", "yep", "yeah", "yes please", "ok", "okay", "approve", "approved", "allow", "allowed",
		"confirm", "sure", "go", "go ahead", "proceed", "do it", "run it":
		return Accept, true
	case "acceptforsession", "always", "yes always", "always yes", "accept always", "always accept", "always allow", "always approve",
		"for session", "for the session", "for this session", "session", "accept for session", "accept for this session",
		"approve for session", "approve for this session", "allow for session", "allow for this session",
		"yes for session", "yes for this session":
		return AcceptForSession, true
	case "decline", "declined", "no", "n", "nope", "no thanks", "deny", "denied", "reject", "rejected", "refuse", "refused",
		"do not", "don't", "dont":
		return Decline, true
	case "cancel", "canceled", "cancelled", "abort", "stop":
		return Cancel, true
	}
	return "", false
}

// mostOfDecision is how long a text may be that is no more than a yes or no.
const mostOfDecision = 256

// normalised is a text in lower case, its words apart by one space each, without
// the signs around and between them.
func normalised(text string) string {
	if len(text) > mostOfDecision {
		return "" // it may say no in the end
	}
	words := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(text, "’", "'")), func(r rune) bool {
		return unicode.IsSpace(r) || r != '\'' && unicode.IsPunct(r)
	})
	for i, word := range words {
		words[i] = strings.Trim(word, "'")
	}
	return strings.Join(words, " ")
}

// clipped returns the beginning of a text and says so where it is not all.
func clipped(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
