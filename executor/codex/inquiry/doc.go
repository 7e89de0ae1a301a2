// Package inquiry holds what codex asks while it works at an attempt, until it is answered: a question is put
// to the turn of the attempt, told to its observer, answered by a person or by the clock, and handed to codex by
// the turn, which belongs to one goroutine. A [Desk] finds the attempt by the thread that asks, and knows the
// subagents, since they ask, too. How a request is read, and what an answer to it is, is for package ask.
//
// Locks are taken in the order Desk.mu, Inquiry.mu; the turn is woken under the second.
package inquiry
