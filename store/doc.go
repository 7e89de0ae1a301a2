// Package store keeps tasks, messages, events and what is to be sent in one
// SQLite file. It holds the only SQL of the program. What it keeps it does not
// understand: bodies are bytes, and the rows' types are its own.
//
// # Ownership
//
// [Open] takes the directory for this store alone, with a lock that the kernel
// drops when the process ends, and starts two goroutines: the writer and the
// syncer. [Store.Close] waits for them. There is one connection, and whoever
// holds the lock Store.turn uses it. Nothing else may open state.db while the store
// is open: closing any descriptor of a file drops the locks that SQLite has on it.
//
// # Concurrency
//
// All methods may be called concurrently. If nobody uses the connection and nobody
// waits for it, an operation runs on its caller's goroutine. Otherwise it waits
// for the writer, which takes all operations that wait. Those that read it runs
// first, for 2 ms at most, on what has been committed. The others it runs in one
// transaction, each under a savepoint: one that fails leaves nothing behind and
// does the others no harm. Whoever has an answer has the commit. If the commit
// itself fails, each operation gets a transaction of its own, and those that fail
// again are refused. A full disk therefore refuses what does not fit, and nothing
// is broken: reads go on, and writes when there is room. Database and log have some
// of the disk before they need it, so that what runs can still be written down.
//
// When nothing waits, the writer moves the log into the database and forgets
// what [Retention] gives up, in steps of a few milliseconds; under a load that
// leaves no such moment it does so between two commits. A task that is
// forgotten is gone for readers at once; its rows follow, and then the file
// gets smaller. Lists are ordered, filtered and counted in memory.
//
// # Durability
//
// Every commit survives the end of the process, SIGKILL included, for the system
// has the log then. SQLite itself syncs the log only when it moves it
// (synchronous=NORMAL). When a commit survives the end of the machine is chosen
// for each write; a goroutine beside the writer syncs the log, once for all
// commits that wait for it, and with them everything before.
//
//	write                                     on the disk       because
//	accept, replace                           with Sync         of those who are told and go away; whoever stays comes again
//	a tool's start                            at once           what has a tool must not run again by itself
//	push settings                             at once, Sync     promised to a caller
//	questions, deliveries                     at once           somebody waits at the other end
//	a change with Durable set                 at once           its maker says so
//	everything else                           within a second   codex has it too, or the next run makes it again
//
// A sync makes everybody wait who writes to the same disk: three of them in a turn
// make codex itself some milliseconds slower.
//
// # Damage
//
// A file that is damaged, foreign, empty or of a newer version is an error that
// names it ([ErrCorrupt], [ErrNewer]), and is left as it is: the store never puts
// a new file in the place of one that was there. Opening looks at the header
// only; [Store.Check] reads everything.
package store
