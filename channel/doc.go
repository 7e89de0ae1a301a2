// Package channel makes a workspace of a runtime that nobody can reach: it reads the
// workspaces' inboxes, has each message answered, and brings the answers back.
//
// # A row's way
//
// A page of the inbox is committed with the place behind it, in one commit: what was
// accepted comes to an end here, whatever happens, and what was not is asked for again.
// Rows that are none to answer end there ("drained"). The others are given to the
// [Engine], in their order within their chat ("given"), under the platform's id of the
// row as the id of the message: given twice, a row is the same task with the same answer.
// An answer is committed with the end of the rows that it answers ("answered") before it
// is sent. When it is sent they are "done"; when the platform refuses it for good they are
// "dead", and it stays in the store as a dead letter, that somebody can have sent again.
//
//	accepted → given → answered → done
//	    |        |         └────→ dead → answered
//	    └────────┴→ drained
//
// What a turn says when it has taken several rows is said once, for all of them. What a
// task says more than once, a question and then its end, is sent each time: a reply
// belongs to its task, and rows to their first reply. That they have to wait is said and
// answers nothing.
//
// # Sending
//
// The replies of a chat are kept, and sent, in the order of its rows, but that nobody
// waits for a task that still runs. That a reply is about to be sent is committed before:
// when nobody knows what became of that, the log of the platform is asked before a note to
// the user is sent again, and a message to a peer has the same id.
//
// # Outages
//
// While a platform does not answer, only its inbox is asked, at growing intervals; replies
// wait until that succeeds.
//
// # Ownership
//
// [Channel.Run] starts every goroutine of the package and waits for it.
package channel
