package connect_test

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// An mcpEntry is what codex's configuration has of an MCP server.
type mcpEntry map[string]any

// TestEntryIsTheDocumentedOne has the real codex take the block's server, and compares what
// then stands in its configuration with what docs/connect.md shows: a setting that one of
// them has, the other has, too.
func TestEntryIsTheDocumentedOne(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(codextest.Root(t), "docs/connect.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "```toml\n")
	example, _, _ = strings.Cut(example, "```")
	want := theEntry(t, example)

	codexHome := codextest.Home(t)
	inShell(t, "bash", shells["bash"], func(t *testing.T, at *terminal) {
		at.lacks("bin/codex")
		if err := os.Symlink(codextest.Bin(t), filepath.Join(at.home, "bin/codex")); err != nil {
			t.Fatal(err)
		}
		if shown, status := at.paste(filled(goodURL, goodID, goodToken, goodMCP), "CODEX_HOME="+codexHome); status != 0 {
			t.Fatalf("exit %d: %s", status, shown)
		}
	})
	config, err := os.ReadFile(filepath.Join(codexHome, "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	got := theEntry(t, string(config))
	if keys, documented := keysOf(got), keysOf(want); !slices.Equal(keys, documented) {
		t.Errorf("the block configures %v, and docs/connect.md has %v", keys, documented)
	}
	for key, value := range got {
		if key != "command" && key != "env" && !reflect.DeepEqual(value, want[key]) { // these are another's on each machine
			t.Errorf("%s is %v, and in docs/connect.md %v", key, value, want[key])
		}
	}
}

// theEntry is the one MCP server of a configuration.
func theEntry(t *testing.T, config string) mcpEntry {
	t.Helper()
	var all struct {
		Servers map[string]mcpEntry `toml:"mcp_servers"`
	}
	if _, err := toml.Decode(config, &all); err != nil || len(all.Servers) != 1 {
		t.Fatalf("%v: not one MCP server: %s", err, config)
	}
	for _, entry := range all.Servers {
		return entry
	}
	return nil
}

// keysOf lists the keys of an entry, and those of its environment.
func keysOf(entry mcpEntry) []string {
	keys := slices.Collect(maps.Keys(entry))
	if env, ok := entry["env"].(map[string]any); ok {
		for name := range env {
			keys = append(keys, "env."+name)
		}
	}
	slices.Sort(keys)
	return keys
}
