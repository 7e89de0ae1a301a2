// Package sim tries the scheduler, the tasks and the store on a simulated agent, in simulated
// time. All that goes wrong in a run is drawn from its seed: the agent dies at any step, loses
// ends and tells of them late, refuses, asks, hangs; commits fail; clients leave, repeat
// themselves, cancel and steer; and the runtime itself dies, with all of its memory, and is
// built anew on what its store has kept.
//
// At the end an auditor reads the books (audit.go): each message has one end, the same for
// everybody; the turns of a context are in the order of their messages; no tool runs twice for
// one message; nothing is stuck, and nothing is left.
//
// A run is repeated by its seed: what is drawn depends on the seed and on the name of what it is
// drawn for (chance.go), and on nothing that happens besides.
package sim
