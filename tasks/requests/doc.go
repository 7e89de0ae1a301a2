// Package requests puts what codex asks before the user of a workspace as a request of the
// platform, which has two buttons, and answers the question with the one that is pressed. The task
// engine puts a row into the outbox in the commit of the question; from then on the row is all that is
// known of the request, so a process that is killed anywhere goes on where it was.
//
// # A request's way
//
//	wanted → up → decided          the question has its answer, and the row goes
//	   │      ├──→ lapsed → up     no decision: it is put up again, some times; so is one that
//	   │      │                    the list has no more
//	   │      └──→ settled         the question is over otherwise: the request is closed
//	   └──→ gone                   the platform has no such thing, or will not have it
//
// The row's target says where it is up: "approvals/<id>" on platforms that list the decisions,
// which are asked for them while a question is open, and "requests/<id>" on those that send them
// as messages ([Read]). The latter cannot be closed, so a settled one is remembered for a week: what
// comes of it then is answered without codex.
//
// # Once
//
// A request whose row may have been tried before is looked for in the platform's list first, by
// the name of its question. A platform without a list may show one twice where its answer was lost.
// The answer to a question has the name of the request, so that it is one message however often
// it is given.
//
// # Ownership and concurrency
//
// [Board.Run] is one goroutine, which owns all that is not in the journal. Wake may be called from
// anywhere. One board serves one workspace, so one whose platform hangs holds no other up.
package requests
