package main

import (
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/connect"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/secrets"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

type connectFlags struct {
	Name     string `help:"Name of the workspace, for that of the MCP server in codex. Without, the beginning of its id."`
	Template bool   `help:"Print the template with its placeholders, for the platform."`
}

// connect prints the block that connects a codex to the workspace of the environment.
// It holds the workspace's token: that is what it is for.
func (p *program) connect(o connectFlags) int {
	release := ownRelease()
	if o.Template {
		p.print(connect.Template(release))
		return exitOK
	}
	s, _, err := settings.Load(p.environ)
	if !s.InWorkspace() {
		p.complain("WORKSPACE_ID and PLATFORM_URL are not both set", "take them from the Connect dialog; runtime connect --template prints the block without them")
		return exitUsage
	}
	for _, problem := range settings.Problems(err) { // others may be those of another machine
		if problem.Name == "PLATFORM_URL" {
			p.complain(problem.What, "set it as the Connect dialog shows it")
			return exitUsage
		}
	}
	token, err := shownToken(s)
	if err != nil {
		p.complain("MOLECULE_WORKSPACE_TOKEN_FILE: "+err.Error(), "name a file that holds the token, or set MOLECULE_WORKSPACE_TOKEN instead")
		return exitFailed
	}
	if token == "" {
		p.complain("there is no token: the block refuses to run", "set MOLECULE_WORKSPACE_TOKEN, or MOLECULE_WORKSPACE_TOKEN_FILE")
	}
	text, err := connect.Fill(connect.Values{
		Release: release, PlatformURL: s.PlatformURL, WorkspaceID: s.WorkspaceID, Token: token,
		ServerName: connect.ServerName(o.Name, s.WorkspaceID),
	})
	if err != nil {
		return p.fail(err)
	}
	p.print(text)
	return exitOK
}

// shownToken is the token that the environment names.
func shownToken(s settings.Settings) (string, error) {
	if s.TokenFile == "" {
		return s.WorkspaceToken.Reveal(), nil
	}
	text, err := regular.Read(s.TokenFile, secrets.MostBytes)
	return strings.TrimSpace(string(text)), err
}
