// Package bounds keeps requests within what they may take of memory and of time: how large a
// body is and how long it may come, how much is held of all bodies and of all answers
// together, and how long each write to a reader may take.
package bounds
