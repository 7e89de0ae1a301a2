// Package agent has the words that stand between an agent and A2A: what a turn is given
// ([Input], [Options]), what it does meanwhile ([Item], [Event]), what it asks ([Question],
// [Answer]) and how it ends ([Ended], [Outcome], [Failure]). Nothing of a wire is in it:
// the driver of an agent makes these of what that says, and package tasks makes A2A of them.
//
// It is a leaf of values: no goroutine, no lock, no state.
package agent
