// Package notify tells somebody of the ends of tasks: whoever was named as the
// target with a message of the task. The task engine puts a notice into the journal
// with each such end; this package sends it, and notes what became of it.
//
// # Targets
//
// "local" is the log of this runtime, and arrives at once. An http or https URL gets
// a POST of JSON, behind the guard that keeps callers' URLs out of networks that are
// none of their business. Anything else is a [Place] of the platform's, for which there
// has to be a [Platform]: "canvas" or "user", "peer:" and the id of a workspace, or the name of a
// service and the id of a chat of it.
//
// # Delivery
//
// A notice is sent when its task ends, and again by itself while that may help; when
// it cannot, or for too long did not, [Deliverer.Retry] tries it once more for whoever
// asks. One that has arrived is never sent again. A process that is killed between the
// arrival and the note of it sends it once more, with the same id.
//
// # Ownership and concurrency
//
// [Deliverer.Run] sends what is due, as package deliver has it. Retry may run beside it,
// and several of them: one try of a notice is made at a time.
package notify
