// Package prompt makes the instructions that every codex thread of a workspace is
// given: what the platform, the workspace's own files, its parent, its plugins and its
// peers have to say, in one text.
//
// [Builder.Text] is asked before each turn and answers from memory. [Builder.Run]
// keeps that up to date: it reads the files and asks the platform anew every few
// minutes. A part that cannot be had keeps its last text, which is also kept over a
// restart, for a text that changes is told to every thread once more; one that never
// could be had is left out. Both are logged once.
//
// A [Builder] may be used concurrently. It starts no goroutines: Run is the caller's.
package prompt
