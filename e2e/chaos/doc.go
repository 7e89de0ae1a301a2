// Package chaos proves that nothing is lost and nothing done twice. Its test runs
// the built program with the real codex and a scripted model under load, kills
// and hinders them at random instants, and checks the books afterwards.
//
// # The plan
//
// What is sent and what is struck comes from a [Plan], which is made of a seed:
// the same seed makes the same messages and the same strikes in the same order.
// The instants themselves are those of the machine, so two runs of one seed are
// alike and not equal.
//
// # The model
//
// The model stands behind TLS, as in the field, and codex asks it by WebSockets. Some strikes are
// at the way to it: its connections are cut, in order or by a reset, new ones are refused for a
// moment, or WebSockets are, after which that process asks over HTTP. None of them excuses a turn:
// codex tries again, and there are fewer of them for a turn than it has tries. TestCuts has no
// other strikes, so that nothing else can be what a turn was lost for.
//
// # Machines
//
// In TestMachines commands run on machines that share the working directory, and half of the strikes are at these: they
// are killed, or codex's server on one is, they fall silent for a while and run on, and they drain. A machine that was struck
// is back after a while, while other strikes go on. The books are the same.
//
// # Who does what
//
// One goroutine for each conversation sends its messages and keeps what it was
// told, as a client that repeats what it got no answer to. The model, a script
// in this process, keeps what it was asked. The test's own goroutine strikes.
// All three write into the [Ledger], which the auditor reads at the end, beside
// the closed database, the working directory and the list of processes.
package chaos
