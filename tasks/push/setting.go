package push

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// The versions of A2A that a receiver may speak.
const (
	V1 = "1.0"
	V0 = "0.3"
)

// A Setting is what a caller has asked for. It is secret but for its id and the
// host: everything else may let its reader in somewhere.
type Setting struct {
	Version string         `json:"version"` // of the caller, and so of what is posted
	Config  a2a.PushConfig `json:"config"`  // without the task's id
}

// Decode reads what [Setting.Encode] has made.
func Decode(p store.Push) (Setting, error) {
	var s Setting
	if err := json.Unmarshal(p.Body, &s); err != nil {
		return s, fmt.Errorf("the push notification setting %s cannot be read", p.ID) // the cause may quote it
	}
	s.Config.ID = p.ID
	return s, nil
}

// Encode makes what is kept of a setting.
func (s Setting) Encode() (store.Push, error) {
	body, err := json.Marshal(s)
	if err != nil {
		return store.Push{}, fmt.Errorf("encode the push notification setting %s: %w", s.Config.ID, err)
	}
	return store.Push{ID: s.Config.ID, Body: body}, nil
}

// String shows what may be shown.
func (s Setting) String() string { return s.Config.ID + " for " + s.host() }

// GoString implements [fmt.GoStringer].
func (s Setting) GoString() string { return s.String() }

// LogValue implements [slog.LogValuer].
func (s Setting) LogValue() slog.Value { return slog.StringValue(s.String()) }

func (s Setting) host() string {
	u, err := url.Parse(s.Config.URL)
	if err != nil {
		return ""
	}
	return u.Host
}

// canonicalHost is where the setting posts to.
func (s Setting) canonicalHost() string { return canonicalHost(s.Config.URL) }

// canonicalHost is the host of a URL in one spelling of it, as posts to it are counted.
func canonicalHost(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return net.JoinHostPort(strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), u.Port())
}
