// Package fleetsim tries the placement of conversations on a simulated fleet, in simulated time. What happens is drawn from a
// seed: conversations come, ask for turns, and are forgotten; machines die, return at once or after long, are not heard of
// for a moment, drain, leave, join, and run the turns of others; what they report comes late, so that they refuse turns.
//
// The package has the machines as they are (machine.go), and what a runtime does with them (weather.go, talk.go): it tells the
// placer what it hears of them and begins the turns that the placer gives a machine. An auditor (audit.go) sees both: no
// conversation has a turn on two machines, and no machine more than it may; a turn is refused only for what the placer
// could not know; a conversation leaves its machine only if that is gone, drains or has left; no turn waits while there is
// a machine for it, and none passes another; machines that have been up for a while have conversations evenly, for what
// they can run; processes that know the same decide the same; at the end nothing waits and nothing is left.
//
// A run is repeated by its seed.
package fleetsim
