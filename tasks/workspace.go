package tasks

// A Workspace is what the engine knows of the workspace that it works for. The zero
// value of each field works.
type Workspace struct {
	// Steer has the messages of the workspace's user become part of the turn that runs
	// in their conversation. Those of other agents wait: each of them asked for
	// something else.
	Steer bool
	// Redact takes secrets out of what the platform shows.
	Redact func(string) string
	// Wake is called when there is a late reply to deliver. It must not block. Without it
	// nobody delivers what is said to the user and is no reply.
	Wake func()
	// Requests is called when there is a question to put before the user with buttons, and when one is
	// open no more. It must not block. Nil puts none.
	Requests func()
	// Of says which workspace a conversation belongs to, -1 for none, where several have one engine; nil where
	// all are of one.
	Of func(conversation string) int
	// Posts has replies reach the user some time after they were made, by others who send them and say
	// so by [Engine.Telling]. A question counts as read from then on.
	Posts bool
}
