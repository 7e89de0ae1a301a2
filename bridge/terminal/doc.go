// Package terminal is a person's place at a task: what the task says and does as it goes on, the
// questions of codex with their choices, and a line to answer them and to tell codex more.
//
// [Run] shows it in one of two ways. On a terminal that can move its cursor, what has been said
// scrolls by, and below it stands what is so now: the plan, commands that run, a question, the
// line to write in. Plain, each thing is written once and below the one before, for screen
// readers and terminals that can do no more; answers are lines there.
//
// # What is where
//
//   - scene.go, texts.go: what is known of the task, and what of it is still to be written
//   - talk.go, dialogue.go: the question that is asked, led through until there is an answer to it;
//     neither knows a terminal
//   - screen.go, keys.go, view.go: the first way, a program of the library bubbletea; draft.go is the
//     line that is written in, pen.go draws, fold.go breaks lines
//   - plain.go: the second
//
// Leaving never cancels: a task belongs to the runtime.
package terminal
