package platform_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
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
		t.Skip("set MOLECULE_CONTRACT_SCHEMAS to the folder of the platform's schemas; what is sent is held to testdata/sent.txt all the same")
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

// sentBodies sends the least and the most of what can be said, and returns the bodies by
// the path that they went to.
func sentBodies(t *testing.T) map[string][]json.RawMessage {
	t.Helper()
	s := newSite(t, fakeplatform.AUG)
	yes, most := true, card()
	most["url"], most["description"] = "http://localhost:9", "d"
	for _, r := range []platform.Registration{
		{URL: "http://localhost:9", Card: most},
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
			ErrorRate: 0.5, SampleError: "e", ActiveTasks: 2, CurrentTask: "t", UptimeSeconds: 3, MonthlySpend: 4, RuntimeState: platform.Wedged, Card: most,
			Metadata:         &platform.RuntimeMetadata{Capabilities: platform.Capabilities{Session: true}, IdleTimeoutSeconds: 600},
			MCPServerPresent: &yes, LoadedMCPTools: []string{"mcp__molecule__list_peers"},
		},
	} {
		if err := s.Heartbeat(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if first, second := s.w.Beats()[0], s.w.Beats()[1]; first.LoadedTools != nil || second.LoadedTools == nil {
		t.Errorf("unknown tools and none are the same: %v, %v", first.LoadedTools, second.LoadedTools)
	}
	if err := s.UpdateCard(t.Context(), most); err != nil {
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
	bodies := map[string][]json.RawMessage{"the card": {s.w.Card()}}
	for path, want := range map[string]int{"*/registry/register": 3, "*/registry/heartbeat": 3, "*/a2a": 2} {
		for _, r := range s.p.Requests(path) {
			bodies[path] = append(bodies[path], r.Body)
		}
		if got := len(bodies[path]); got != want {
			t.Errorf("%d bodies went to %s, want %d", got, path, want)
		}
	}
	return bodies
}

// TestBodiesFitTheSchemas holds what is sent to the platform's own schemas.
func TestBodiesFitTheSchemas(t *testing.T) {
	dir := schemas(t)
	bodies := sentBodies(t)
	for _, s := range statements(t) {
		compiled := compile(t, dir, s)
		for _, body := range bodies[s.body] {
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(body)))
			if err == nil {
				err = compiled.Validate(value)
			}
			if err != nil {
				t.Errorf("%s: %v", body, err)
			}
		}
	}
}

func compile(t *testing.T, dir string, s *statement) *jsonschema.Schema {
	t.Helper()
	compiled, err := jsonschema.NewCompiler().Compile(filepath.Join(dir, s.file) + "#" + s.pointer)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// TestStatementFitsTheSchemas says which of the platform's schemas has moved since
// testdata/sent.txt was written, and what that changes in the terms of that file.
func TestStatementFitsTheSchemas(t *testing.T) {
	dir := schemas(t)
	for _, s := range statements(t) {
		text, err := os.ReadFile(filepath.Join(dir, s.file))
		if err != nil {
			t.Fatal(err)
		}
		changes := s.changes(describe(compile(t, dir, s)))
		for _, change := range changes {
			t.Errorf("testdata/sent.txt, %s: %s", s.file, change)
		}
		if digest := fmt.Sprintf("%x", sha256.Sum256(text)); digest != s.digest {
			t.Errorf("%s has moved: the lines above say which rows of testdata/sent.txt that changes (%d). Then write its digest there: %s", s.file, len(changes), digest)
		}
	}
}

// changes says in which rows a schema is not as stated. What is sent and stands in no schema
// goes where the schema lets through any member.
func (s *statement) changes(schema map[string]*row) (all []string) {
	for _, path := range slices.Sorted(maps.Keys(s.rows)) {
		ours, theirs := s.rows[path], schema[path]
		switch {
		case theirs == nil && !ours.unsent && letsThrough(schema, path):
		case theirs == nil:
			all = append(all, fmt.Sprintf("%s (%s) is not known any more", path, ours))
		case ours.is != theirs.is || ours.wanted != theirs.wanted:
			all = append(all, fmt.Sprintf("%s is %s, and was %s", path, theirs, ours))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(schema)) {
		if s.rows[path] == nil && !strings.HasSuffix(path, "*") {
			all = append(all, fmt.Sprintf("%s (%s) is new", path, schema[path]))
		}
	}
	return all
}

// letsThrough says whether a schema that does not know a member has any in its place, or in
// that of what it stands in.
func letsThrough(schema map[string]*row, path string) bool {
	for path != "" && schema[path] == nil {
		path = path[:max(strings.LastIndexByte(path, '.'), 0)]
		if more := schema[below(path, "*")]; more != nil && more.is == "any" {
			return true
		}
	}
	return false
}
