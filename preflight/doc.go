// Package preflight finds out, before a turn does, why codex would not work
// here, and says what to do about it.
//
// A [Check] is one question; [Run] asks many at once, and none stops the
// others. Checks take what they look at as parameters, read no environment,
// and may be asked again and again, also concurrently: they write nothing that
// stays.
// A process that a check starts has ended when its Run returns.
package preflight
