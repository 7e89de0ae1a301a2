package appserver

// Memory is what a child and its commands have resident, in bytes. Pages that they share
// are counted for each.
type Memory struct {
	Codex    int64 // the child itself
	Commands int64 // what it has started, and what that has started
}
