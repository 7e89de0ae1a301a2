package settings

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// spaces reads which workspaces a channel is for. After that the runtime stands alone:
// it is no workspace's container.
func (r *resolver) spaces() {
	s := r.s
	if s.Workspaces.Set() {
		r.listed()
	} else if s.WorkspaceID != "" && s.PlatformURL != "" {
		one := Space{ID: s.WorkspaceID, URL: s.PlatformURL, Token: s.WorkspaceToken}
		if s.TokenFile != "" {
			one.TokenFile = r.path("MOLECULE_WORKSPACE_TOKEN_FILE", s.TokenFile, nil)
		}
		if !one.Token.Set() && one.TokenFile == "" {
			r.fail("MOLECULE_WORKSPACE_TOKEN", "the workspace has no token",
				"set MOLECULE_WORKSPACE_TOKEN to the token of the External Connect dialog, or MOLECULE_WORKSPACE_TOKEN_FILE to a file that holds it")
		}
		s.Spaces = []Space{one}
	} else {
		r.fail("WORKSPACE_ID", "there is no workspace to work for",
			"set WORKSPACE_ID, PLATFORM_URL and MOLECULE_WORKSPACE_TOKEN as the External Connect dialog shows them, or MOLECULE_WORKSPACES")
	}
	for i := range s.Spaces {
		s.Spaces[i].URL = strings.TrimRight(s.Spaces[i].URL, "/")
	}
	s.WorkspaceID, s.PlatformURL, s.WorkspaceToken = "", "", Secret{}
}

// listed reads MOLECULE_WORKSPACES. What is wrong with it is said without its text, for
// that holds tokens.
func (r *resolver) listed() {
	const name = "MOLECULE_WORKSPACES"
	const form = `give a list such as [{"id":"…","token":"…","platform_url":"https://…"}]`
	var list []struct {
		ID    string `json:"id"`
		Token string `json:"token"`
		File  string `json:"token_file"`
		URL   string `json:"platform_url"`
	}
	if err := json.Unmarshal([]byte(r.s.Workspaces.Reveal()), &list); err != nil {
		r.fail(name, name+" is not JSON of the form that is expected", form)
		return
	}
	if len(list) == 0 {
		r.fail(name, name+" names no workspace", form)
	}
	known := map[string]bool{}
	for i, w := range list {
		space := Space{ID: w.ID, URL: strings.TrimSpace(w.URL), Token: NewSecret(strings.TrimSpace(w.Token)), TokenFile: w.File}
		if space.URL == "" {
			space.URL = r.s.PlatformURL
		}
		if space.TokenFile != "" {
			space.TokenFile = r.path(name, space.TokenFile, nil)
		}
		switch {
		case w.ID == "":
			r.fail(name, fmt.Sprintf("%s: workspace %d has no id", name, i+1), form)
		case strings.ContainsFunc(w.ID, odd):
			r.fail(name, fmt.Sprintf("%s: the id of workspace %d has a character that no id has", name, i+1), form)
		case known[w.ID]:
			r.fail(name, fmt.Sprintf("%s: workspace %s stands in it twice", name, w.ID), "take one of the two out")
		case !space.Token.Set() && space.TokenFile == "":
			r.fail(name, fmt.Sprintf("%s: workspace %s has no token", name, w.ID), form)
		case !isWebURL(space.URL):
			r.fail(name, fmt.Sprintf("%s: workspace %s has no URL of a platform", name, w.ID), "set its platform_url, or PLATFORM_URL for all")
		}
		known[w.ID] = true
		r.s.Spaces = append(r.s.Spaces, space)
	}
}

// odd reports whether a character stands in no id: conversations are named after them.
func odd(r rune) bool {
	return !strings.ContainsRune("-_.", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
}
