package settings

// A Client is what a command needs that calls a running runtime.
type Client struct {
	URL       string
	Token     Secret
	CodexHome string
}

// LoadClient reads the settings of a [Client] from environ. Those of the server may
// be wrong, or not there: it may run on another machine.
func LoadClient(environ []string) (Client, error) {
	vars := toMap(environ)
	s, found := parse(vars, Rows())
	var problems []*Problem
	for _, p := range found {
		if p.Name == "RUNTIME_URL" || p.Name == "RUNTIME_TOKEN" {
			problems = append(problems, p)
		}
	}
	r := resolver{s: &s, vars: vars, host: osHost{}}
	home := r.path("CODEX_HOME", s.CodexHome, func() string { return "~/.codex" })
	return Client{URL: s.URL, Token: s.Token, CodexHome: home}, join(problems)
}

// LoadChannelState returns the state directory of a channel, by environ. Its other
// settings may be wrong, or not there.
func LoadChannelState(environ []string) (string, error) {
	vars := toMap(environ)
	s, _ := parse(vars, Rows())
	r := resolver{s: &s, vars: vars, host: osHost{}}
	dir := s.StateDir
	if dir == "" {
		dir = s.ChannelDir
	}
	dir = r.path("CODEX_CHANNEL_MOLECULE_STATE_DIR", dir, func() string { return "~/.codex-channel-molecule" })
	return dir, join(r.problems)
}
