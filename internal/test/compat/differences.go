package main

import "slices"

// A difference is something that some codexes do otherwise than the one that the tests were written on, 0.169.0. The
// tests that show it may fail there, and nothing else may.
type difference struct {
	since, until string   // the versions that it is of; empty is open
	tests        []string // by package and name; a test below one that is named is named, too
	lacks        string
	does         string // what the runtime does about it
}

// differences are all that are known.
func differences() []difference {
	return []difference{
		{
			until: "0.163.0", tests: []string{"executor/codex.TestToolsAreCalledConcurrently"},
			lacks: "calls the workspace tools of one answer one after the other",
			does:  "nothing: each call is answered as it comes",
		},
		{
			until: "0.165.0", tests: []string{"executor/codex.TestCutBeforeAnotherProvider"},
			lacks: "loads a conversation whose turn was cut off also for another model provider, which later versions refuse",
			does:  "the conversation goes on with that provider, and the message says so",
		},
		{
			until: "0.166.0", tests: []string{"executor/codex.TestNamedModelBehindACancel", "executor/codex.TestUnansweredBehindOthers"},
			lacks: "answers nothing any more, now and then, when a turn is interrupted while its request to the model begins",
			does:  "restarts it after 5 s; the conversation goes on",
		},
		{
			until: "0.166.0",
			lacks: "does not name the tool beside the words in which it asks for leave to call a tool of an MCP server",
			does:  "takes it from the words, where such a call is known",
		},
		{
			until: "0.166.0",
			lacks: "may complete a turn without reading a message that was added to it in its last moment",
			does:  "sees in the thread's file that nothing of the model's is behind it, and gives the message a turn of its own",
		},
		{
			until: "0.166.0",
			lacks: "refuses a thread of another model provider in other words",
			does:  "knows both",
		},
		{
			since: "0.171.0", tests: []string{"executor/codex.TestInstructionsOverACompactionInMidTurn"},
			lacks: "keeps instructions that have changed over a compaction in mid-turn",
			does:  "tells them anew all the same, so the model may read them twice",
		},
		{
			since: "0.171.0",
			lacks: "does not ask for the time (currentTime/read)",
			does:  "nothing: it is answered where it is asked",
		},
	}
}

// of reports whether a version is one of those.
func (d difference) of(version string) bool {
	at := numbers(version)
	return (d.since == "" || slices.Compare(at, numbers(d.since)) >= 0) && (d.until == "" || slices.Compare(at, numbers(d.until)) <= 0)
}
