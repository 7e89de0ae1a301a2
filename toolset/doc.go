// Package toolset is the tools by which codex works with the platform: its peers, its
// user, its memory. Each is defined once, by its name, a description, the type of its
// arguments and a handler, and offered by two doors: as dynamic tools of codex's
// threads ([Set.Definitions], [Set.Call]), and over MCP ([Set.Register]).
//
// Names, arguments and texts are those that other runtimes of the platform have, so
// that prompts and documents written for them hold.
//
// # What a model reads
//
// A call always comes to a text. What went wrong is one too, and says what to do.
// Nothing that a peer has said gets to the model unmarked: it is wrapped and its
// imitations of our marks and of instructions are taken apart (internal/peerwords). What is
// kept for others, in memories and in the log of activity, is redacted first.
//
// # Concurrency
//
// Calls run concurrently and know nothing of one another. Each has a deadline; it ends
// early with the context it was made with.
package toolset
