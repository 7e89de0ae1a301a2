// Package executor decides which message has its turn, and when: the queue of each
// context and the slots that all share, messages to a running turn, the hold while the
// model refuses, attempts, timers, and what becomes of a message whose turn was cut off. It knows
// agents by an interface, [Driver], and nothing of A2A.
//
// # A job's way
//
// [Executor.Submit] puts a job at the end of its context's queue. One goroutine
// serves a context that has jobs; it takes them one at a time, waits for one of
// the slots that all contexts share, has the driver get the agent and the thread ready, starts
// the turn and has it followed until it has ended. What happens
// is told to the job's [Observer] as [agent.Event] values, the last of which is
// always [agent.Ended].
//
// An agent may fold what it is sent into a turn that is running, so one turn at a time
// is not a nicety: the turn lock of a [Session] is held from before the
// thread is made ready until the turn has ended, and by a driver that lets the thread go.
//
// # Messages to a running turn
//
// [Executor.Steer] hands a message to the turn that runs. It is a job like any
// other, with attempts of its own, that ends with the turn if that takes it, and
// has its place in the queue if not. Messages to one turn are sent one at a time;
// steer.go says how, steered.go what becomes of them.
//
// # Timers
//
// A turn may be silent for a while, longer while a tool runs, and it may last for a while in all. Nothing counts while it
// waits for answers. The driver tells of signs of life, and ends a turn whose timer has run out ([Timers]).
//
// # Questions
//
// While a question of a turn is open its slot is left to others (slots.go). An answer that comes
// back to no free slot is kept until there is one.
//
// # Refusals
//
// Where the model refuses the credential, or a limit is reached, this concerns all
// jobs: the hold is closed (hold.go), and no turn is started until a probe, or a login, has
// shown that the model answers again (hold_keep.go). Jobs are told with [agent.Paused] and
// [agent.Resumed]. What may be about one job alone, because it names a model of its own,
// holds no other (alone.go). A thread whose context is full is summarised once for a job
// (weigh.go).
//
// # Attempts
//
// An attempt at a job is written down in the [Journal] before the agent sees a byte of
// it, and carries a number of its own into the thread's history. When the agent
// dies, or this process did, the driver says what it knows of the attempt, and fate.go has
// the table of what becomes of it. A turn that was cut off before it
// did anything is run again, once, with its observer attached; one in which a
// tool may have started is not.
//
// # Concurrency
//
// All methods may be called concurrently. An Observer is called from one
// goroutine at a time and must not block. [Executor.Close] waits for every
// goroutine of the package.
//
// Locks are taken in the order turn lock of a session, pauseTold.mu, Executor.mu, those of the driver, and then one
// of those that guard a few fields only (hold.mu, mutes.mu, slots.mu). Under slots.mu the driver is told
// that no turn is begun, and a slot that is given wakes its turn.
// An Observer may be called under the first two, never under another.
package executor
