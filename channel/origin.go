package channel

import (
	"strings"

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

// words are those that a sender is told, who may not talk to codex.
func (cfg Config) words(text string) string {
	if !cfg.Others {
		return text
	}
	return strings.NewReplacer("[codex error]", "[agent error]", "codex", "the agent").Replace(text)
}
