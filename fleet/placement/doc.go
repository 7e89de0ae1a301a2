// Package placement decides which machine a conversation's turn runs on. It is pure: no files, no connections, no clock. What
// happens on the machines it is told ([Placer.Report], [Placer.Doubt], [Placer.Lose], [Placer.Remove]), and what bounds a
// wait is the caller's.
//
// A conversation stays on its machine. It goes to another one with its next turn, if its files can be moved, when the machine is
// lost, drains, is in trouble, has left the roster, or lacks a label that the turn needs; else it waits, and [Turn.Waits] says
// for what. A machine that is doubted is waited for: soon it is up or lost.
//
// A conversation that has no machine, or leaves one, goes to that with the fewest conversations for what it can run at a time,
// among those that are up, have the labels, and have room for a turn now. Between equals the larger hash of both names
// decides, so that a process that knows the same decides the same. Conversations are not moved to a machine that joins or
// comes back: the next ones go there, until it has as many as the others.
//
// Turns that wait are served in the order in which they were asked for, each as soon as there is a machine for it: one for
// which there is none holds no other up.
//
// # Concurrency
//
// All methods may be called concurrently. The one lock is held for calculations only.
package placement
