package settings

// LoadMCP reads the settings of runtime mcp. Outside of a workspace those that are not of the runtime which it calls
// may be those of another machine, and are not looked at.
func LoadMCP(environ []string) (Settings, []Warning, error) {
	s, _, err := Load(environ)
	if s.InWorkspace() {
		return s, nil, err
	}
	if s.Workspaces.Set() {
		inbox, errInbox := LoadInbox(environ)
		if errInbox != nil {
			return s, nil, errInbox
		}
		s.Spaces = inbox.Spaces
	}
	client, err := LoadClient(environ)
	s.URL, s.CodexHome = client.URL, client.CodexHome
	return s, nil, err
}
