package settings

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
)

func (r *resolver) run() []*Problem {
	if r.channel {
		r.spaces()
		if r.s.Tools == "mcp" {
			r.fail("RUNTIME_TOOLS", "RUNTIME_TOOLS=mcp is not for runtime channel", "set it to dynamic, or off")
		}
	} else {
		r.workspace()
	}
	r.user()
	r.paths()
	r.sandbox()
	r.apart()
	r.programs()
	r.login()
	r.door()
	r.s.AllowedNetworks, _ = networks(r.s.Networks) // its row has been checked
	r.s.Threads = cmp.Or(r.s.Threads, pick(r.s.InWorkspace(), "workspace", "context"))
	r.s.MidTurn = cmp.Or(r.s.MidTurn, pick(r.s.InWorkspace() || r.channel, "steer", "queue"))
	r.s.Reply = cmp.Or(r.s.Reply, pick(r.s.InWorkspace(), "message", "task"))
	for _, u := range []*string{&r.s.PublicURL, &r.s.PlatformURL, &r.s.OpenAIBaseURL, &r.s.LLMBaseURL} {
		*u = strings.TrimRight(*u, "/")
	}
	return r.problems
}

func (r *resolver) workspace() {
	switch {
	case r.s.WorkspaceID != "" && r.s.PlatformURL == "":
		r.warn("WORKSPACE_ID", "WORKSPACE_ID is set and PLATFORM_URL is not: standing alone")
	case r.s.WorkspaceID == "" && r.s.PlatformURL != "":
		r.warn("PLATFORM_URL", "PLATFORM_URL is set and WORKSPACE_ID is not: standing alone")
	case r.s.InWorkspace() && r.s.DeliveryMode != "" && !strings.EqualFold(r.s.DeliveryMode, "push"):
		r.warn("MOLECULE_DELIVERY_MODE", "MOLECULE_DELIVERY_MODE="+r.s.DeliveryMode+" is not in force: messages are taken as the platform pushes them, which must reach this runtime at MOLECULE_WORKSPACE_URL")
	}
}

// sandbox decides what auto means, and says why.
func (r *resolver) sandbox() {
	contained := r.s.InContainer && (r.s.InWorkspace() || r.channel)
	note := "chosen by CODEX_SANDBOX"
	if r.s.Sandbox == "auto" {
		r.s.Sandbox = pick(contained, "danger-full-access", "workspace-write")
		note = pick(contained, "the container is the boundary", "the default")
	}
	r.s.SandboxNote = note
	if r.s.ApprovalPolicy == "auto" {
		r.s.ApprovalPolicy = pick(contained || r.channel, "never", "on-request") // nobody watches a channel
	}
}

// login decides whether codex's login is ours to renew. The user's own codex works
// on ~/.codex, too, and in a workspace the platform owns the login.
func (r *resolver) login() {
	s := r.s
	shared := s.InWorkspace() || s.CodexHome == filepath.Join(r.vars["HOME"], ".codex")
	s.OwnsLogin = s.RefreshOwner == "1" || s.RefreshOwner == "auto" && !shared
}

// door refuses to open a shell to the network by accident: whoever reaches the
// port reaches codex, and codex runs commands.
func (r *resolver) door() {
	if r.channel && r.s.Addr == "" { // it does not listen
		return
	}
	r.s.Addr = cmp.Or(r.s.Addr, pick(r.s.InWorkspace(), "0.0.0.0:8000", "127.0.0.1:8000"))
	host, port, err := net.SplitHostPort(r.s.Addr)
	if n, errPort := strconv.Atoi(port); err != nil || errPort != nil || n < 0 || n > 65535 {
		r.fail("RUNTIME_ADDR", fmt.Sprintf("RUNTIME_ADDR=%q is not an address", r.s.Addr),
			"give host:port, such as 127.0.0.1:8000")
		return
	}
	r.token(host)
	if r.s.InWorkspace() || isLoopback(host) || r.s.Token.Set() {
		return
	}
	if r.s.Insecure {
		r.warn("RUNTIME_INSECURE", "RUNTIME_INSECURE: listening on "+r.s.Addr+" without a token; whoever reaches it can run commands here")
		return
	}
	r.fail("RUNTIME_ADDR", "listening on "+r.s.Addr+" would let anybody who reaches it run commands here",
		"set RUNTIME_TOKEN to a secret of your choice, or RUNTIME_ADDR to a loopback address, or RUNTIME_INSECURE=1 if something else guards the port")
}

// token refuses one that can be found by trying where more than this machine may try. A
// listener that may go without one may have a short one.
func (r *resolver) token(host string) {
	switch {
	case !r.s.WeakToken():
	case isLoopback(host) && r.publicHost() == "" || r.s.Insecure:
		r.warn("RUNTIME_TOKEN", "RUNTIME_TOKEN is shorter than 16 characters: easy to guess")
	default:
		r.fail("RUNTIME_TOKEN", "RUNTIME_TOKEN is shorter than 16 characters, and callers beyond this machine could find it by trying ("+
			cmp.Or(r.publicHost(), r.s.Addr)+")", "set it to the output of openssl rand -hex 32")
	}
}

// publicHost is the host of RUNTIME_PUBLIC_URL, if that leads from other machines to here:
// then something hands on what it gets to the listener, loopback or not.
func (r *resolver) publicHost() string {
	u, err := url.Parse(r.s.PublicURL)
	if err != nil || isLoopback(u.Hostname()) {
		return ""
	}
	return u.Hostname()
}

// user finds out who codex is to run as.
func (r *resolver) user() {
	if r.s.CodexUser == "" {
		return
	}
	var err error
	if r.s.User, err = r.host.user(r.s.CodexUser); err != nil {
		r.fail("CODEX_USER", "CODEX_USER="+r.s.CodexUser+": "+err.Error(), "name a user of this machine that is not root, or unset it")
	}
	if r.s.User != nil && r.s.Tools == "mcp" && r.s.InWorkspace() {
		r.fail("CODEX_USER", "with RUNTIME_TOOLS=mcp codex starts the workspace's tools, which need the workspace's token: "+r.s.User.String()+" cannot read it",
			"unset RUNTIME_TOOLS, or CODEX_USER")
	}
}

// paths makes every path absolute and fills in the defaults.
func (r *resolver) paths() {
	s := r.s
	s.TempDir = r.path("TMPDIR", cmp.Or(r.vars["TMPDIR"], "/tmp"), nil)
	if s.InWorkspace() {
		s.ConfigsDir = r.path("CONFIGS_DIR", s.ConfigsDir, r.configsDir)
		s.ConfigLate = s.ConfigPath != ""
		s.ConfigPath = r.path("WORKSPACE_CONFIG_PATH", s.ConfigPath, func() string { return s.ConfigsDir })
		s.ConfigFile, s.SecretsDir = filepath.Join(s.ConfigPath, "config.yaml"), filepath.Join(s.ConfigPath, "secrets.d")
		s.StateDir = cmp.Or(s.StateDir, filepath.Join(s.ConfigsDir, ".runtime"))
		s.CodexHome = cmp.Or(s.CodexHome, filepath.Join(s.ConfigsDir, ".codex"))
		if s.TokenFile != "" {
			s.TokenFile = r.path("MOLECULE_WORKSPACE_TOKEN_FILE", s.TokenFile, nil)
		}
	}
	if r.channel {
		s.ChannelDir = r.path("CODEX_CHANNEL_MOLECULE_STATE_DIR", s.ChannelDir, func() string { return "~/.codex-channel-molecule" })
		s.StateDir = cmp.Or(s.StateDir, s.ChannelDir)
	}
	s.StateDir = r.path("RUNTIME_STATE_DIR", s.StateDir, r.stateDir)
	s.CodexHome = r.path("CODEX_HOME", s.CodexHome, func() string {
		if s.User != nil && s.User.Home != "" {
			return filepath.Join(s.User.Home, ".codex")
		}
		return "~/.codex"
	})
	s.WorkDir = r.path("RUNTIME_WORKDIR", s.WorkDir, func() string {
		return pick(r.host.isDir("/workspace"), "/workspace", ".")
	})
	if s.MachinesSecret != "" {
		s.MachinesSecret = r.path("RUNTIME_MACHINES_TOKEN_FILE", s.MachinesSecret, nil)
	}
	if s.MachinesCA != "" {
		s.MachinesCA = r.path("RUNTIME_MACHINES_CA", s.MachinesCA, nil)
	}
	if s.DebugWire != "" {
		s.DebugWire = r.path("RUNTIME_DEBUG_WIRE", s.DebugWire, nil)
	}
	if s.PluginsDir != "" {
		s.PluginsDir = r.path("PLUGINS_DIR", s.PluginsDir, nil)
	}
}

func (r *resolver) configsDir() string {
	return pick(r.host.canWrite("/configs"), "/configs", "~/.molecule-workspace")
}

func (r *resolver) stateDir() string {
	base := r.vars["XDG_STATE_HOME"]
	if !filepath.IsAbs(base) { // the XDG specification: ignore relative ones
		base = "~/.local/state"
	}
	return filepath.Join(base, pick(r.machine, "molecule-machine", "molecule-codex-runtime"))
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
