// Package codex has codex carry turns out: it is the driver of an [executor.Executor] for
// the app-server of codex.
//
// # The child and its threads
//
// A supervisor starts codex, and starts it again when it has ended (supervisor.go). Which context is which
// thread a conversation knows (conversation.go); it is the [executor.Session] of its context. A thread
// is started, resumed or forked before a turn (thread.go, foreign.go), and unloaded when there is no room for it.
//
// # How a turn ends
//
// turn/completed is the rule. Where it is lost, the thread's own history says
// how the turn stands. A cancel and a timer interrupt the turn; a codex that
// does not obey within the grace period is restarted. The subagents and the commands
// that an ended turn left running are ended before its end is told (ending_agents.go).
// What became of a turn that was cut off is looked up in the history and in the thread's rollout file (lookup.go).
//
// # Questions
//
// codex asks by requests, each of which has a goroutine that waits for its
// answer, its expiry, or the end of its turn. The turn's goroutine tells the
// observer of it ([agent.Question], [agent.Answered]); [Driver.Answer] brings the answer. An
// inquiry holds the questions of one attempt, and is there before its turn: codex
// may ask before we know that it has begun. [ask.Read] is the table of
// the ways to ask. The timers of the turn rest while a question is open. It is the turn's goroutine
// that hands the answer to codex.
//
// # Tools
//
// codex may be given tools of ours with each new thread. It keeps them as long as the
// thread lives, so a conversation whose thread has others than are offered now goes on
// in a new one (renew.go). A call is carried out on the goroutine of its request, and
// ends with its turn (tools.go).
//
// # Refusals
//
// What codex says of a credential or a limit becomes an [executor.Refusal] (refused.go). A probe finds out whether the
// model answers (probe.go), and a login by device code is offered where that helps (login.go).
//
// # Concurrency
//
// Locks are taken in the order conversation.lock, those of the scheduler, Driver.mu, and then one
// of those that guard a few fields only (inquiry.mu, account.mu, limits.mu). Under slots.mu of the
// scheduler, supervisor.mu and attention.mu are taken: a slot that is given wakes its turn, and codex is restarted
// while no turn may begin.
package codex
