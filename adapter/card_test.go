package adapter

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
)

func TestCardInterfaces(t *testing.T) {
	for _, url := range []string{"http://h:1/x", "http://h:1/x/"} {
		var got []string
		for _, i := range Card(Identity{}, url).SupportedInterfaces {
			got = append(got, string(i.ProtocolBinding)+" "+string(i.ProtocolVersion)+" "+i.URL)
		}
		want := "JSONRPC 1.0 http://h:1/x/, HTTP+JSON 1.0 http://h:1/x, JSONRPC 0.3 http://h:1/x/"
		if strings.Join(got, ", ") != want {
			t.Errorf("interfaces %q, want %s", got, want)
		}
	}
}

func TestCardSaysWhatItIs(t *testing.T) {
	c := Card(Identity{Scripted: true, Sandbox: "danger-full-access", SandboxNote: "the container is the boundary", Version: "1.2.3"}, "http://h")
	if c.Name != "codex (scripted model)" || c.Version != "1.2.3" || !c.Capabilities.Streaming || c.Capabilities.PushNotifications {
		t.Errorf("card %+v", c)
	}
	if c := Card(Identity{Push: true}, "http://h"); !c.Capabilities.PushNotifications {
		t.Errorf("card %+v", c)
	}
	if !strings.HasSuffix(c.Description, "Sandbox: danger-full-access (the container is the boundary).") {
		t.Errorf("description %q", c.Description)
	}
	if plain := Card(Identity{Name: "Ada", Description: "D."}, "http://h"); plain.Name != "Ada" || plain.Description != "D." || plain.SecuritySchemes != nil {
		t.Errorf("card %+v", plain)
	}
}

// TestDescriptionIsOfSentences: what the workspace's configuration says may end as it likes.
func TestDescriptionIsOfSentences(t *testing.T) {
	for description, want := range map[string]string{
		"Reviews code":     "Reviews code. Sandbox: read-only.",
		"Reviews code. ":   "Reviews code. Sandbox: read-only.",
		"Reviews code!":    "Reviews code! Sandbox: read-only.",
		"Reviews code？":    "Reviews code？ Sandbox: read-only.",
		"Sie prüft (alle)": "Sie prüft (alle). Sandbox: read-only.",
	} {
		if got := Card(Identity{Description: description, Sandbox: "read-only"}, "http://h").Description; got != want {
			t.Errorf("%q: %q, want %q", description, got, want)
		}
	}
	if got := Card(Identity{Description: "Reviews code"}, "http://h").Description; got != "Reviews code" {
		t.Errorf("with nothing behind it: %q", got)
	}
	if got := Card(Identity{Description: " "}, "http://h").Description; !strings.HasPrefix(got, "Codex: ") || !strings.HasSuffix(got, "of its own.") {
		t.Errorf("of a blank one: %q", got)
	}
}

// TestCardIsReadByBothVersions takes the union form through the parser of each.
func TestCardIsReadByBothVersions(t *testing.T) {
	text, err := UnionCard(t.Context(), Card(Identity{Token: true}, "http://h"))
	if err != nil {
		t.Fatal(err)
	}
	var plain a2a.AgentCard
	if err := json.Unmarshal(text, &plain); err != nil {
		t.Fatal(err)
	}
	old, err := a2av0.NewAgentCardParser()(text)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]*a2a.AgentCard{"1.0": &plain, "0.3": old} {
		if len(c.SupportedInterfaces) != 3 || len(c.Skills) == 0 || len(c.SecurityRequirements) != 1 {
			t.Errorf("%s reads %+v", name, c)
		}
		if _, ok := c.SecuritySchemes["bearer"].(a2a.HTTPAuthSecurityScheme); !ok {
			t.Errorf("%s reads the schemes %+v", name, c.SecuritySchemes)
		}
	}
	for _, want := range []string{`"protocolVersion":"0.3"`, `"url":"http://h/"`, `"preferredTransport":"JSONRPC"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

// TestCardSaysWhichTypes come in and go out, to both versions alike.
func TestCardSaysWhichTypes(t *testing.T) {
	in := "text/plain application/json image/png image/jpeg image/gif image/webp application/octet-stream"
	for files, out := range map[bool]string{
		true:  "text/plain application/json text/x-diff image/png application/octet-stream",
		false: "text/plain application/json text/x-diff",
	} {
		text, err := UnionCard(t.Context(), Card(Identity{Files: files}, "http://h"))
		if err != nil {
			t.Fatal(err)
		}
		var plain a2a.AgentCard
		if err := json.Unmarshal(text, &plain); err != nil {
			t.Fatal(err)
		}
		old, err := a2av0.NewAgentCardParser()(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []*a2a.AgentCard{&plain, old} {
			if got := strings.Join(c.DefaultInputModes, " "); got != in {
				t.Errorf("in: %s", got)
			}
			if got := strings.Join(c.DefaultOutputModes, " "); got != out {
				t.Errorf("out: %s", got)
			}
			for _, skill := range c.Skills {
				hands := strings.Contains(strings.Join(skill.OutputModes, " "), anyFile)
				if len(skill.OutputModes) == 0 || hands != (files && skill.ID != "explain") {
					t.Errorf("%s gives %q", skill.ID, skill.OutputModes)
				}
			}
		}
	}
}
