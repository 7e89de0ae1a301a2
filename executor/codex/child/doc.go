// Package child keeps a codex app-server running: a [Supervisor] owns the one child that there is, starts it
// when it is wanted, and starts it again when it has ended. A [Child] knows how it was started, with which
// credential, and what it was told that lasts as long as it lives. Nothing here knows of conversations.
package child
