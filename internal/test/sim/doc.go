// Package sim tries the scheduler, the tasks and the store on a simulated agent, in simulated
// time. All that goes wrong in a run is drawn from its seed: the agent dies at any step, loses
// ends and tells of them late, refuses, also behind a tool, asks, hangs, and does not find its
// history; commits fail, one by one or all for a while; clients leave, repeat themselves, cancel,
// steer, and have messages run again; and the runtime itself is told to stop, and drains first or
// does not, or dies, with all of its memory, also at a commit or as the agent has just taken a
// message, and is built anew on what its store has kept.
//
// At the end an auditor reads the books (audit.go): each message has one end, the same for
// each client; the turns of a context are in the order of their messages; no turn comes behind one
// of the same message in which a tool has run; a message that is said to be in a turn is in it; no
// two turns have one name; a question that was answered is not posed again; what was canceled
// ends soon, and begins nothing more; what waits when the runtime is told to stop begins nothing
// in that life; nothing is stuck, and nothing is left.
//
// A run is repeated by its seed: what is drawn depends on the seed and on the name of what it is
// drawn for (chance.go), and on nothing that happens besides.
package sim
