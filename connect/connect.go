// Package connect has the block of commands that connects a codex on somebody's
// machine to a workspace of the platform. The platform shows it in its Connect dialog.
//
// The template is a shell's. Its placeholders stand in a document that the shell takes as
// it is, in the form of the table that codex has of an MCP server: whatever is put there,
// none of it is run. What cannot be a token, an id, a URL or a name is refused when the
// block is run, before anything is done. Only a value that has line breaks could leave its
// place, so those are refused by [Fill]; the platform has none in what it fills in.
//
// The token comes by one of two ways, and the block takes the one that was used: some
// servers fill in {{AUTH_TOKEN}}; others know no such placeholder, and there the page puts
// the token in the place of [pasted].
package connect

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

//go:embed codex.snippet
var template string

// pasted is the line that the page of some platforms replaces, to the letter.
const pasted = `MOLECULE_WORKSPACE_TOKEN = "<paste from create response>"` + "\n"

// NoToken is what the platform fills in where it no longer shows the token. The block
// then refuses to run.
const NoToken = "<ROTATE_TO_REVEAL_TOKEN>" //nolint:gosec // not one

// A Release is what the block installs of this program where it is missing. The archives
// hold the program, and the program this block, so the block cannot know the checksums of
// the archives of its own release: it takes them from the SHA256SUMS beside those. The
// block that make release writes for the platform has them.
type Release struct {
	Name   string // such as v1.2.3; "" stands for none, and then the block installs nothing
	Source string // what Go calls the sum of the module's source, h1:…; "" is not known
}

var (
	released = regexp.MustCompile(`^v\d+\.\d+\.\d+(-(alpha|beta|rc)\.?\d+)?$`)
	hashed   = regexp.MustCompile(`^h1:[A-Za-z0-9+/]{43}=$`)
)

// ReleaseOf is the release of a program that has this version. What is built between two
// releases has a version, too, but no archives: it names none.
func ReleaseOf(version, source string) Release {
	if !released.MatchString(version) {
		return Release{}
	}
	if !hashed.MatchString(source) {
		source = ""
	}
	return Release{Name: version, Source: source}
}

// Template is the block with the platform's placeholders.
func Template(r Release) string {
	text := strings.Replace(template, "\nrelease=\n", "\nrelease="+r.Name+"\n", 1)
	if r.Source != "" {
		text = strings.Replace(text, "\nsums=\n", "\nsums='source="+r.Source+"'\n", 1)
	}
	return text
}

// Values are what a block is filled in with.
type Values struct {
	Release     Release
	PlatformURL string
	WorkspaceID string
	Token       string // "" stands for [NoToken]
	ServerName  string // "" is [ServerName] of the workspace's id
}

// Fill returns the block for one workspace.
func Fill(v Values) (string, error) {
	if v.Token == "" {
		v.Token = NoToken
	}
	if v.ServerName == "" {
		v.ServerName = ServerName("", v.WorkspaceID)
	}
	all := []struct{ what, placeholder, value string }{
		{"PLATFORM_URL", "{{PLATFORM_URL}}", v.PlatformURL},
		{"WORKSPACE_ID", "{{WORKSPACE_ID}}", v.WorkspaceID},
		{"the token", "{{AUTH_TOKEN}}", v.Token},
		{"the name of the MCP server", "{{MCP_SERVER_NAME}}", v.ServerName},
	}
	pairs := make([]string, 0, 2*len(all))
	for _, one := range all {
		if strings.ContainsFunc(one.value, unicode.IsControl) {
			return "", fmt.Errorf("%s has a line break or another control character in it: set it anew", one.what)
		}
		pairs = append(pairs, one.placeholder, one.value)
	}
	return strings.NewReplacer(pairs...).Replace(strings.Replace(Template(v.Release), pasted, "", 1)), nil
}

const (
	mostSlug = 24 // characters of a workspace's name in that of its server
	idPrefix = 8  // characters of its id, where there is no name
)

// ServerName is what codex is to call the workspace's tools: molecule- and the name of
// the workspace, as far as that can stand there, or the beginning of its id.
func ServerName(name, id string) string {
	short := slug(name)
	if short == "" {
		short = slug(id[:min(len(id), idPrefix)])
	}
	return "molecule-" + short
}

func slug(name string) string {
	var out strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			out.WriteRune(r)
		case out.Len() > 0 && !strings.HasSuffix(out.String(), "-"):
			out.WriteByte('-')
		}
	}
	text := out.String()
	return strings.Trim(text[:min(len(text), mostSlug)], "-")
}
