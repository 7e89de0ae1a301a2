// Package console is the page on which a person looks at the runtime and takes part:
// what runs and waits, what codex asks, how everything it needs stands.
//
// The page is an A2A client. What is about tasks (their text, plans, questions, new
// messages, cancels) it says and hears in A2A, through the handler that
// [Console.Handler] is given; this package adds
// what A2A has no place for: one object with the state of the runtime ([State]), a
// stream of it with a line for each task whose state changes ([Task]), and the checks of
// doctor. Nothing of it is computed while nobody looks.
//
// # Who may
//
// With [Config.Token] a person shows it once, in a form, and has a session from then
// on, for twelve hours or until the process ends. It has two halves, random values of
// which only digests are kept here, and nothing below /console/api is open to one alone:
// a cookie that scripts cannot read, but that browsers send to every other port of the
// host, and a key that the answer to the form has in it. The page keeps that in the
// storage of its origin, which has the port in it, and sends it as X-Console-Key.
//
// Without a token only callers of this machine are let in, under a name of this
// machine. In either case a POST has to carry the header X-Console, which pages of
// others cannot send; the two forms are known by what the browser says of where they
// come from. The Host and Origin of all requests have been looked at before: see
// package server.
//
// # Ownership and concurrency
//
// A [Console] has no goroutine of its own. Each stream belongs to the goroutine of its
// request; one that does not read fails its own write, and nobody waits for it. A
// session that ends takes its streams with it.
package console
