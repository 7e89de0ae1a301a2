package codextest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// SchemaDir returns a folder with what the codex at hand says of its protocol, a file for each type.
func SchemaDir(tb testing.TB) string {
	tb.Helper()
	dir := Dir(tb, "schema")
	cmd := exec.CommandContext(tb.Context(), Bin(tb), "app-server", "generate-json-schema", "--experimental", "--out", dir)
	cmd.Env = append(os.Environ(), "CODEX_HOME="+Home(tb))
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("codextest: %v: %s", err, out)
	}
	return dir
}

// A Schema checks values against what the codex at hand says of its protocol.
type Schema struct {
	dir  string
	made map[string]*jsonschema.Schema
}

// NewSchema returns the schema of the codex at hand.
func NewSchema(tb testing.TB) *Schema {
	tb.Helper()
	return &Schema{SchemaDir(tb), map[string]*jsonschema.Schema{}}
}

// Has reports whether codex knows a type.
func (s *Schema) Has(name string) bool {
	_, err := os.Stat(filepath.Join(s.dir, name+".json"))
	return err == nil
}

// Check fails the test where a value is none of the type.
func (s *Schema) Check(tb testing.TB, name string, value any) {
	tb.Helper()
	if s.made[name] == nil {
		made, err := jsonschema.NewCompiler().Compile(filepath.Join(s.dir, name+".json"))
		if err != nil {
			tb.Fatal(err)
		}
		s.made[name] = made
	}
	text, err := json.Marshal(value)
	if err != nil {
		tb.Fatal(err)
	}
	plain, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err == nil {
		err = s.made[name].Validate(plain)
	}
	if err != nil {
		tb.Errorf("%s does not fit %s: %v", text, name, err)
	}
}
