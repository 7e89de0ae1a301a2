// Package told has what the model of a conversation is told beside its messages, in words and as what is
// known of what it has heard: the instructions and what has changed of them, that the history was lost, and
// that the history has words that no message has brought. Nothing of it asks codex or the journal.
package told
