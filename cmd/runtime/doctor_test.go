package main

import (
	"strings"
	"testing"
)

func TestGuess(t *testing.T) {
	workspace := "WORKSPACE_ID=w PLATFORM_URL=http://p"
	for environ, want := range map[string]string{
		"":                 "serve",
		"OPENAI_API_KEY=x": "serve",
		"WORKSPACE_ID=w":   "serve",
		workspace:          "serve",
		workspace + " CONFIGS_DIR=/c MOLECULE_WORKSPACE_TOKEN=t":           "serve",
		workspace + " WORKSPACE_CONFIG_PATH=/c MOLECULE_WORKSPACE_TOKEN=t": "serve",
		workspace + " MOLECULE_WORKSPACE_URL=u MOLECULE_WORKSPACE_TOKEN=t": "serve",
		workspace + " RUNTIME_IN_CONTAINER=1 MOLECULE_WORKSPACE_TOKEN=t":   "serve",
		workspace + " MOLECULE_WORKSPACE_TOKEN=":                           "serve",
		workspace + " MOLECULE_WORKSPACE_TOKEN=t":                          "channel",
		workspace + " MOLECULE_WORKSPACE_TOKEN_FILE=f":                     "channel",
		"MOLECULE_WORKSPACES=[]":                                           "channel",
		"MOLECULE_WORKSPACES=":                                             "serve",
	} {
		if got, why := guess(strings.Fields(environ)); got != want || why == "" {
			t.Errorf("%q: %s, for %q, want %s", environ, got, why, want)
		}
	}
}
