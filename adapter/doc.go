// Package adapter fits codex to where the runtime was put: which model it
// talks to, which of its features are on, what it may see of the environment,
// and how the agent introduces itself.
//
// codex's config.toml is the user's: it is neither needed nor written, and what we
// want differently goes in as start overrides. Written is one file, codex's login,
// by [Logins], whole and 0600; read are config.yaml and the folders beside it, by
// [Setup], before each start of codex. The rest are functions of their parameters.
//
// [Setup] and [Logins] may be used concurrently. [Logins.Run] is a loop for a
// goroutine of its caller's; nothing here starts one.
package adapter
