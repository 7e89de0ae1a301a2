package platform_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// beside is where the platform's own schemas lie if they lie beside this repository, of
// which they are no part.
var beside = filepath.Join("..", "..", "shared", "contract", "schemas")

// schemas is the folder with them.
func schemas(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("MOLECULE_CONTRACT_SCHEMAS")
	if _, err := os.Stat(beside); dir == "" && err == nil {
		dir = beside
	}
	if dir == "" {
		t.Skip("set MOLECULE_CONTRACT_SCHEMAS to the folder of the platform's schemas")
	}
	if _, err := os.Stat(filepath.Join(dir, "register.schema.json")); err != nil {
		t.Fatalf("MOLECULE_CONTRACT_SCHEMAS: %v", err)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func checks(t *testing.T, dir, file, pointer string) func(text string) {
	t.Helper()
	compiled, err := jsonschema.NewCompiler().Compile(filepath.Join(dir, file) + "#" + pointer)
	if err != nil {
		t.Fatal(err)
	}
	return func(text string) {
		t.Helper()
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err == nil {
			err = compiled.Validate(value)
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestBodiesFitTheSchemas sends the least and the most of what can be said.
func TestBodiesFitTheSchemas(t *testing.T) {
	dir := schemas(t)
	s := newSite(t, fakeplatform.AUG)
	yes := true
	for _, r := range []platform.Registration{
		{URL: "http://localhost:9", Card: card()},
		{URL: "http://localhost:9", Card: card(), DeliveryMode: "push", MCPServerPresent: &yes},
		{Card: card(), DeliveryMode: "poll"},
	} {
		if _, err := s.Register(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range []platform.Beat{
		{},
		{LoadedMCPTools: []string{}},
		{
			ErrorRate: 0.5, SampleError: "e", ActiveTasks: 2, CurrentTask: "t", UptimeSeconds: 3, MonthlySpend: 4, RuntimeState: platform.Wedged, Card: card(),
			Metadata:         &platform.RuntimeMetadata{Capabilities: platform.Capabilities{Session: true}, IdleTimeoutSeconds: 600},
			MCPServerPresent: &yes, LoadedMCPTools: []string{"mcp__molecule__list_peers"},
		},
	} {
		if err := s.Heartbeat(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.UpdateCard(t.Context(), card()); err != nil {
		t.Fatal(err)
	}
	peer := s.p.Add(fakeplatform.Workspace{Reply: func(string) string { return "" }})
	for _, m := range []platform.Message{
		{ID: "m", Text: "hi"},
		{ID: "m", Context: "c", Text: "hi", Metadata: map[string]any{"source_workspace_id": "w"}},
	} {
		if _, err := s.Send(t.Context(), peer.ID(), m); err != nil {
			t.Fatal(err)
		}
	}
	checked := 0
	for pattern, where := range map[string][2]string{
		"*/register":  {"register.schema.json", "/properties/request"},
		"*/heartbeat": {"heartbeat.schema.json", "/properties/request"},
		"*/a2a":       {"a2a-envelope.schema.json", "/properties/request"},
	} {
		check := checks(t, dir, where[0], where[1])
		for _, r := range s.p.Requests(pattern) {
			check(string(r.Body))
			checked++
		}
	}
	if checked != 8 {
		t.Errorf("%d bodies were checked", checked)
	}
	checks(t, dir, "agent-card.schema.json", "")(string(s.w.Card()))
	if first, second := s.w.Beats()[0], s.w.Beats()[1]; first.LoadedTools != nil || second.LoadedTools == nil {
		t.Errorf("unknown tools and none are the same: %v, %v", first.LoadedTools, second.LoadedTools)
	}
}
