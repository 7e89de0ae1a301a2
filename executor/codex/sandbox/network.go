package sandbox

import (
	"encoding/json"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// Commands that have the network in codex's sandbox can call this program as its callers do.
// Where these need no credential, or one that commands can read, nothing tells an answer of a
// command's from one of the user's, so that a command could let itself out of the sandbox: nothing
// that codex asks has an answer then.

// learnNetwork notes whether commands of a thread have the network in their sandbox. Where those of
// one do, they can answer for all others, until codex ends and they with it. codex's answer has what
// the mode came to, whichever of its settings says so.
func (g *Guard) learnNetwork(session appserver.ThreadSession) {
	var sandbox struct {
		Network any `json:"networkAccess"` // a word in some modes
	}
	_ = json.Unmarshal(session.Sandbox, &sandbox) // of no other form is it one with a network
	switch sandbox.Network {
	case nil, false, "", "restricted":
	default:
		g.networked.Store(true)
	}
}

// Unaskable says why nothing is asked, since an answer could be a command's: to the sender of the message
// whose turn asks, and to the log. Both are empty where it is asked.
func (g *Guard) Unaskable() (notice, why string) {
	if g.forgeable() {
		return forgeableAsked, networkAndOpen
	}
	return "", ""
}

// forgeable reports whether an answer could be a command's.
func (g *Guard) forgeable() bool { return g.terms.Open && g.networked.Load() }

const (
	networkAndOpen = "commands have the network here (sandbox_workspace_write.network_access in codex's configuration), and nothing keeps from them what callers show, so that a command could give the answer"
	toBeAsked      = "To be asked, set RUNTIME_TOKEN, and in a workspace CODEX_USER, too, or take that setting away, and restart the runtime."
)

// forgeableAsked is what the sender of a message reads whose turn asks where a command could answer.
const forgeableAsked = "codex asked for something. It was declined without a question: " + networkAndOpen + ". codex goes on without it. " + toBeAsked

// forgeableNote is the same where the question was asked before such a command was known.
const forgeableNote = "The answer is not taken: " + networkAndOpen + ". It was declined. " + toBeAsked

// Forged says why no answer is taken; empty where one is.
func (g *Guard) Forged() (note string) {
	if g.forgeable() {
		return forgeableNote
	}
	return ""
}
