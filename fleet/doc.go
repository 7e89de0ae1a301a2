// Package fleet is the machines that commands of conversations run on, as the runtime sees them: which there are, how
// each stands, which conversation has its place on which, and what is lost with one.
//
// # A machine
//
// A member watches one machine. Where it stands is one of a few named states (state.go):
//
//	unknown ──▶ up ◀──▶ doubted
//	   │        │ ▲        │
//	   │        ▼ │        │      each of the two may become the other, too
//	   └──▶ lost, refused ◀┘
//
// While it is up a machine has a stay: the time in which what runs there goes on. A stay ends when the machine is
// lost, or says that it is another process by now, or that codex's exec-server there is another one; with it end the
// turns that have their places in it.
//
// # A place
//
// [Fleet.Take] has package fleet/placement choose a machine, and opens a place there: a conversation's first turn on a
// machine waits for that, and those after it for nothing. That a turn begins and has ended is said beside it (room.go), unless
// the machine works for other runtimes, too.
//
// # Silence
//
// A machine that is gone, and one that is out of reach, cannot always be told apart. One that refuses connections has
// ended; one that is silent may run on, and ends by itself what runs there for us, since it does not hear us either.
// One that was frozen did neither: each loss begins another epoch (epochs.go), with whose first request the machine
// ends what it has of those before.
package fleet
