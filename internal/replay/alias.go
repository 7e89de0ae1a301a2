package replay

import (
	"encoding/json"
	"strings"
)

// Conversations that begin at the same time start their threads by the same call, so
// a conversation may get the thread that another one had in the record. That shows
// with the first message on it, which has a name of its own: from then on the two
// threads are taken for each other.

// An alias is which thread of the record each thread of the program is.
type alias struct {
	recorded map[string]string // by the program's; those that are missing are the same
	replace  *strings.Replacer // the record's by the program's; nil if all are the same
	back     *strings.Replacer
}

// of returns the record's id of a thread.
func (a *alias) of(thread string) string {
	if id, ok := a.recorded[thread]; ok {
		return id
	}
	return thread
}

// is says that the program's thread is that of the record, from now on.
func (a *alias) is(thread, recorded string) {
	if a.of(thread) == recorded {
		return
	}
	if a.recorded == nil {
		a.recorded = map[string]string{}
	}
	other := recorded // the program's thread that was taken for it
	for id, is := range a.recorded {
		if is == recorded {
			other = id
		}
	}
	a.recorded[other], a.recorded[thread] = a.of(thread), recorded
	var there, back []string
	for id, is := range a.recorded {
		there, back = append(there, is, id), append(back, id, is)
	}
	a.replace, a.back = strings.NewReplacer(there...), strings.NewReplacer(back...)
}

// toProgram is a line of the record with the program's threads.
func (a *alias) toProgram(line []byte) []byte {
	if a.replace == nil {
		return line
	}
	return []byte(a.replace.Replace(string(line)))
}

// toRecord is a message of the program with the record's threads.
func (a *alias) toRecord(message json.RawMessage) json.RawMessage {
	if a.back == nil {
		return message
	}
	return json.RawMessage(a.back.Replace(string(message)))
}
