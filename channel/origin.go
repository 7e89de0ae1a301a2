package channel

import (
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// longestCard is how many bytes the address of an agent's card has that is kept.
const longestCard = 512

// originOf is what is kept of where a row comes from. Its sender chooses most of that.
func originOf(r platform.Row) Origin {
	o := Origin{Method: brief.Line(r.Method, longestName), At: r.CreatedAt}
	if r.FromPeer() != "" {
		o.PeerName, o.PeerRole = brief.Line(r.PeerName, longestName), brief.Line(r.PeerRole, longestName)
		if len(r.CardURL) <= longestCard {
			o.CardURL = r.CardURL
		}
	}
	return o
}

// fault is a text that says why a message is not answered as its sender has wanted.
func (cfg Config) fault(text string) string { return Fault(cfg.Agent) + text }

// Fault stands before what the sender of a message is told that an agent cannot answer.
func Fault(agent string) string { return "[" + agent + " error] " }
