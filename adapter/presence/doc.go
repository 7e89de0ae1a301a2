// Package presence keeps a workspace known to its platform: it registers it, and
// says with a heartbeat that it lives and what it does.
//
// # Who waits for whom
//
// Nobody waits for the platform. What the runtime does is noted by [Presence.Began]
// and its siblings, which only take a lock; [Presence.Run] has goroutines of its own
// that tell the platform: one registers, one beats, one asks whether the workspace
// still exists. A platform that is slow, down or refuses has an effect on those three
// and on nothing else.
//
// # Order
//
// The platform may send a message from the moment at which it takes a registration,
// so Run is to be called when the runtime listens. The first heartbeat follows the
// first attempt to register, whatever became of that: a beat alone makes the platform
// believe that the workspace is there, and a registration that is refused for its URL
// is the rule on some platforms, which know the workspace's address themselves.
//
// # Truth
//
// The platform replaces all that it has with each beat. So every beat has all of it:
// what runs, how many of the last turns failed, and what the runtime can do itself.
package presence
