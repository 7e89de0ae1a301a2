package requests

import (
	"strings"
	"unicode"
)

// StateOf is what has become of a request by the platform's words for that, and for who has decided it.
func StateOf(status, by string) State {
	var v vote
	v.decides(status)
	v.decider(by)
	return v.state()
}

// A vote is what members or words say of a request.
type vote struct {
	yes, no bool
	lapsed  bool // the time for it was up
	unsure  bool // it is said in a way that may mean anything
}

func (v *vote) add(other vote) {
	v.yes, v.no = v.yes || other.yes, v.no || other.no
	v.lapsed, v.unsure = v.lapsed || other.lapsed, v.unsure || other.unsure
}

// state is what was decided, if no two things were said.
func (v vote) state() State {
	switch {
	case v.unsure, v.yes && (v.no || v.lapsed):
		return Pending
	case v.lapsed:
		return Lapsed
	case v.yes:
		return Approved
	case v.no:
		return Denied
	}
	return Pending
}

// decides reads the value of a member that says what was decided.
func (v *vote) decides(value string) {
	switch word := strings.ToLower(strings.TrimSpace(value)); {
	case yes[word]:
		v.yes = true
	case no[word]:
		v.no = true
	case hasLapsed(word):
		v.lapsed = true
	default:
		v.unsure = true
	}
}

// ours is who closes a request in the name of this runtime.
const ours = "molecule-codex-runtime"

// decider reads who has decided.
func (v *vote) decider(by string) {
	by = strings.ToLower(strings.TrimSpace(by))
	v.lapsed = v.lapsed || by == ours || hasLapsed(by)
}

// hasLapsed reports whether a word of a text says that the time for a decision was up.
func hasLapsed(text string) bool {
	for _, word := range wordsOf(text) {
		if lapses[word] {
			return true
		}
	}
	return false
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' })
}

// The words that decide. That something was done, or is ok, does not say what was decided.
//
//nolint:gochecknoglobals // constants
var (
	yes = setOf("approved approve approves accepted accept accepts allowed allow granted grant")
	no  = setOf("denied deny denies rejected reject rejects declined decline declines refused refuse disapproved")
	// past are those of a text: a decision that was made.
	past   = setOf("approved accepted allowed granted denied rejected declined refused")
	lapses = setOf("auto automatic automatically autoexpired autodenied expired timeout timedout timed lapse lapsed elapsed")
	// undoes are words of what takes a decision back, or is none: nothing of that is a yes.
	undoes = setOf(`not pending revoke revoked withdraw withdrawn cancel canceled cancelled undo undone retract retracted rescinded
		dismiss dismissed ignored superseded invalid void disallowed unapproved forbidden`)
	// doubts are words beside which nothing is a yes.
	doubts = setOf(`no never nobody none noone cannot nor neither without open waiting wait until if whether should unless maybe but please
		longer before earlier previously yesterday already revoking ignore wrong mistake accident error failed default policy rule
		system stop hold`)
)

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}
