// Package selfstart sends the messages that a workspace sends to itself: its initial
// prompt, once in its life; its idle prompt, while nothing else is to be done; and word
// of the results of what it has delegated, once for each.
//
// They go through the task engine in process like any other message, so they are kept,
// queued and shown like one. Nothing is posted to the platform: there such a message
// would look like one of the user, and a workspace that polls would only queue it.
//
// [Run] starts a goroutine for each of the three, and returns when they have ended. Both
// the initial prompt and a result are marked on the disk before they are sent: the prompt
// is sent at most once; the message of a result has an id that is made of it, and is sent
// until it was taken.
package selfstart
