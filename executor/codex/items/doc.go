// Package items has what codex shows of a turn, item by item: in the words of package agent, and kept
// as far as the end of the turn needs it. It has no locks: a [Record] belongs to the goroutine of its turn.
package items
