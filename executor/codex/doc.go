// Package codex has codex carry turns out: it is the driver of an [executor.Executor] for
// the app-server of codex.
//
// # Its rooms
//
// What can be understood by itself has a package: the codex that runs (child), what it comes to the model with
// (login), what its errors mean (failure), what it shows of a turn (items), what it asks, and who asks (ask,
// inquiry), what its commands can do (sandbox), where else they run (place), what the model is told beside the messages (told), how what
// turns leave running is ended (leftovers), and the files that it keeps threads in (rollout). Here are the
// conversations, their threads and the turns on them. A file needs those that are further down only:
//
//	driver.go, session.go, scheduled.go what the scheduler calls
//	requests.go, askers.go, tools.go   what codex calls
//	lookup.go, compact.go              turns that were cut, conversations that are too long
//	beginning.go, reading.go           a turn, from its begin to its end: asking.go, notes.go, stop.go,
//	                                   reconciling.go, outcome.go, commands.go, alive.go, questions.go,
//	                                   calls.go
//	clearing.go, unbidden.go           what is taken out of a history: takeback.go, history.go
//	granting.go, renew.go              what a thread is loaded with, and when it is another one
//	thread.go, foreign.go              how it is loaded: loading.go, thread_params.go, instructions.go
//	machines.go                        where its commands run, if not on this machine
//	pinning.go, room.go, loaded.go     which are loaded, and which conversations are kept
//	trial.go                           what checks ask, of a codex of their own
//	turn.go, conversation.go           the state of each, and config.go, process.go, causes.go, grant.go, attention.go
//	launch.go, child_ended.go          how codex is started, and what follows from its end: child_errors.go
//	journal.go, overview.go, probe.go  what is kept, shown and found out: refused.go, scripts.go, background.go,
//	                                   settings.go
//
// # The child and its threads
//
// A supervisor starts codex, and starts it again when it has ended. Which context is which
// thread a conversation knows; it is the [executor.Session] of its context. A thread
// is started, resumed or forked before a turn, and unloaded when there is no room for it.
//
// # How a turn ends
//
// turn/completed is the rule. Where it is lost, the thread's own history says
// how the turn stands. A cancel and the scheduler's timers interrupt the turn; a codex that
// does not obey within the grace period is restarted. The subagents and the commands
// that an ended turn left running are ended before its end is told.
// What became of a turn that was cut off is looked up in the history and in the thread's rollout file.
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
// in a new one. A call is carried out on the goroutine of its request, and
// ends with its turn.
//
// # Refusals
//
// What codex says of a credential or a limit becomes an [executor.Refusal]. A probe finds out whether the
// model answers (probe.go), and a login by device code is offered where that helps.
//
// # Concurrency
//
// Locks are taken in the order conversation.lock, those of the scheduler, Driver.mu, that of the desk, and then
// one of those that guard a few fields only (of an inquiry, the account, the limits). Under slots.mu of the
// scheduler, those of the supervisor and of an attention are taken: a slot that is given wakes its turn, and codex is
// restarted while no turn may begin.
package codex
