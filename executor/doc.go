// Package executor owns the codex threads: which conversation is which thread,
// the turn lock and the queue in front of it, the timers, the interrupt ladder,
// and the child's starts and restarts. It knows nothing of A2A.
//
// # A job's way
//
// [Executor.Submit] puts a job at the end of its context's queue. One goroutine
// serves a context that has jobs; it takes them one at a time, waits for one of
// the slots that all contexts share, gets the child and the thread ready, starts
// the turn and follows its notifications until the turn has ended. What happens
// is told to the job's [Observer] as [agent.Event] values, the last of which is
// always [agent.Ended].
//
// codex folds a turn/start into a turn that is running, so one turn at a time
// is not a nicety: the turn lock of a conversation is held from before the
// thread is loaded until the turn has ended, and by whoever unloads the thread.
//
// # Messages to a running turn
//
// [Executor.Steer] hands a message to the turn that runs. It is a job like any
// other, with attempts of its own, that ends with the turn if that takes it, and
// has its place in the queue if not. Messages to one turn are sent one at a time;
// steer.go says what codex does with them, steered.go what becomes of them.
//
// # How a turn ends
//
// turn/completed is the rule. Where it is lost, the thread's own history says
// how the turn stands. A cancel and a timer interrupt the turn; a codex that
// does not obey within the grace period is restarted. The subagents and the commands
// that an ended turn left running are ended before its end is told (ending_agents.go).
//
// # Questions
//
// codex asks by requests, each of which has a goroutine that waits for its
// answer, its expiry, or the end of its turn. The turn's goroutine tells the
// observer of it ([agent.Question], [agent.Answered]); [Executor.Answer] brings the answer. An
// inquiry holds the questions of one attempt, and is there before its turn: codex
// may ask before we know that it has begun. [ask.Read] is the table of
// the ways to ask. The timers of the turn rest while a question is open, and its slot is left to
// others (slots.go). An answer that comes back to no free slot is kept until there is
// one; it is the turn's goroutine that hands it to codex.
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
// Where the model refuses the credential, or a limit is reached, this concerns all
// jobs: the hold is closed (hold.go), and no turn is started until a probe of the
// executor's own, or a login, has shown that the model answers again (keep.go,
// login.go). Jobs are told with [agent.Paused] and [agent.Resumed]. What may be about one job alone,
// because it names a model of its own, holds no other (alone.go). A thread whose
// context is full is compacted once for a job (compact.go).
//
// # Attempts
//
// An attempt at a job is written down in the [Journal] before codex sees a byte of
// it, and carries a number of its own into the thread's history. When the child
// dies, or this process did, the history and the thread's rollout file say what
// became of the attempt: fate.go has the table. A turn that was cut off before it
// did anything is run again, once, with its observer attached; one in which a
// tool may have started is not.
//
// # Concurrency
//
// All methods may be called concurrently. An Observer is called from one
// goroutine at a time and must not block. [Executor.Close] waits for every
// goroutine of the package.
//
// What is about codex stands in a driver (driver.go), which knows its scheduler by an interface
// only (host.go): the child, the threads, the turns that are read, what is asked.
//
// Locks are taken in the order conversation.lock, told.mu, Executor.mu, driver.mu, and then one
// of those that guard a few fields only (hold.mu, inquiry.mu, mutes.mu, slots.mu,
// account.mu, limits.mu). Under slots.mu, supervisor.mu and attention.mu are taken: a slot
// that is given wakes its turn, and codex is restarted while no turn may begin.
// An Observer may be called under the first two, never under another.
package executor
