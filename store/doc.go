// Package store keeps tasks, messages, events and what is to be sent in one
// SQLite file. It holds the only SQL of the program. What it keeps it does not
// understand: bodies are bytes, and the rows' types are its own.
//
// # Ownership
//
// [Open] takes the directory for this store alone, with a lock that the kernel
// drops when the process ends, and starts one goroutine, the writer. [Store.Close]
// waits for it. The writer owns the only connection; it is the only one that
// touches the database. Nothing else may open state.db or its log while the
// store is open: closing any descriptor of a file drops the locks that SQLite
// has on it.
//
// # Concurrency
//
// All methods may be called concurrently. The writer takes all operations that
// wait. Those that read it runs first, for 2 ms at most, on what has been committed.
// The others it
// runs in one transaction, each under a savepoint: one that fails leaves nothing
// behind and does the others no harm. Then it answers, so whoever has an answer
// has the commit. If the commit itself fails, each operation gets a transaction
// of its own, and those that fail again are refused. A full disk therefore
// refuses what does not fit, and nothing is broken: reads go on, and writes when
// there is room.
//
// When nothing waits, the writer moves the log into the database and forgets
// what [Retention] gives up, in steps of a few milliseconds. A task that is
// forgotten is gone for readers at once; its rows follow.
//
// # Durability
//
// Every commit survives the end of the process, SIGKILL included, for the system
// has the log then. SQLite itself syncs the log only when it moves it
// (synchronous=NORMAL). What survives the end of the machine, and when, is chosen
// for each write; a goroutine beside the writer syncs the log, once for all
// commits that wait for it.
//
//	write                                     on the disk       because
//	accept, replace, withdraw                 a moment later    the turn need not wait; whoever promises something to the caller calls Sync
//	begin                                     a moment later    the thread's history knows the attempt, too
//	a tool's start                            a moment later    codex runs it whatever we do; what has a tool must not run again by itself
//	a task's end                              a moment later    the thread's history has the answer, too
//	questions, deliveries                     a moment later    somebody waits at the other end
//	a change with Durable set                 a moment later    its maker says so
//	push settings, received messages          before the answer promised to a caller, or acknowledged to one
//	text, states, turn ids                    with the next     codex has it too, or the next run makes it again
//	deliveries that were made or put off      with the next     they are made at least once
//	conversations forgotten, threads dropped  with the next     the next sweep does it again
//	retention                                 with the next     the same
//
// # Damage
//
// A file that is damaged, foreign, empty or of a newer version is an error that
// names it ([ErrCorrupt], [ErrNewer]), and is left as it is: the store never puts
// a new file in the place of one that was there. Opening looks at the header
// only; [Store.Check] reads everything.
package store
