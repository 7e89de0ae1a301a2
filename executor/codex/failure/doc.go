// Package failure reads the errors of codex: which of them say that the model refuses a credential or that
// a limit is reached, until when, and what the sender of a message is told. Codex's words are in no promise
// (docs/fidelity.md); this is the one place that goes by them.
package failure
