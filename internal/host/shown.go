package host

import (
	"net"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

// The extension of A2A by which callers ask that those be told again who could not
// be told of a task's end. docs/bridge.md describes it; package bridge calls it.
const (
	notifyExtension = "https://github.com/Molecule-AI/molecule-codex-runtime/extensions/notify/v1"
	NotifyMethod    = "NotifyEndedTasks"
)

// Identity is what the agent says of itself.
func (o Options) Identity() adapter.Identity {
	s := o.Settings
	return adapter.Identity{
		Version: o.Version, Sandbox: s.Sandbox, SandboxNote: s.SandboxNote, Scripted: s.Scripted(), Token: s.Token.Set(), Push: s.Push, Files: s.HandsOutFiles(),
		Extensions: []a2a.AgentExtension{{
			URI:         notifyExtension,
			Description: "Tells the notifyTarget of a message when its task has ended; " + NotifyMethod + " tries those again that have not been reached.",
			Params:      map[string]any{"method": NotifyMethod},
		}},
	}
}

// Silence is how long a turn of ours may be silent, in seconds: the platform must not
// give it up before we do. 0 says nothing.
func Silence(s settings.Settings) int {
	if s.IdleTimeout == 0 || s.ItemTimeout == 0 {
		return 0
	}
	return int((max(s.IdleTimeout, s.ItemTimeout) + time.Minute) / time.Second)
}

// AnyHost reports whether some requests are taken whatever name they call us by; see
// [server.Config]. A listener beyond loopback is called by names that only its operator
// knows, and so is one that asks for a token: something may stand in front of it.
func AnyHost(s settings.Settings) bool {
	host, _, err := net.SplitHostPort(s.Addr)
	ip := net.ParseIP(host)
	loopback := host == "localhost" || ip != nil && ip.IsLoopback()
	return s.InWorkspace() || s.Token.Set() || err == nil && !loopback
}
