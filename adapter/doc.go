// Package adapter fits codex to where the runtime was put: which model it
// talks to, which of its features are on, what it may see of the environment,
// and how the agent introduces itself.
//
// Everything here is a function of its parameters: nothing is read from the
// machine and nothing is written to it. In particular codex's config.toml is
// the user's; what we want differently goes in as start overrides.
package adapter
