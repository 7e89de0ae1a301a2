package check

import (
	"os"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

// load reads compose files as docker compose config does.
func load(t *testing.T, env types.Mapping, files ...string) (*types.Project, error) {
	t.Helper()
	details := types.ConfigDetails{WorkingDir: t.TempDir(), Environment: env}
	for _, name := range files {
		text, err := os.ReadFile("../" + name)
		if err != nil {
			t.Fatal(err)
		}
		details.ConfigFiles = append(details.ConfigFiles, types.ConfigFile{Filename: name, Content: text})
	}
	return loader.LoadWithContext(t.Context(), details)
}

func TestComposeAlone(t *testing.T) {
	if _, err := load(t, nil, "compose.yaml"); err == nil {
		t.Error("it starts without a token")
	}
	project, err := load(t, types.Mapping{"RUNTIME_TOKEN": "secret"}, "compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	w := project.Services["workspace"]
	if got := w.Environment["RUNTIME_TOKEN"]; got == nil || *got != "secret" {
		t.Errorf("the token is %v", got)
	}
	if len(w.Ports) != 1 || w.Ports[0].HostIP != "127.0.0.1" || w.Ports[0].Target != 8000 {
		t.Errorf("it is published as %+v", w.Ports)
	}
	kept := map[string]string{}
	for _, v := range w.Volumes {
		kept[v.Target] = v.Type
	}
	if kept["/configs"] != "volume" || kept["/workspace"] != "volume" {
		t.Errorf("what is kept: %v", kept)
	}
}

func TestComposeWithPlatform(t *testing.T) {
	files := []string{"compose.yaml", "compose.platform.yaml"}
	if _, err := load(t, types.Mapping{"RUNTIME_TOKEN": "secret"}, files...); err == nil {
		t.Error("it starts without the id of a workspace")
	}
	project, err := load(t, types.Mapping{"RUNTIME_TOKEN": "secret", "WORKSPACE_ID": "one", "MOLECULE_WORKSPACE_TOKEN": "t"}, files...)
	if err != nil {
		t.Fatal(err)
	}
	w := project.Services["workspace"]
	network := w.Networks["platform"]
	if network == nil || len(network.Aliases) != 1 {
		t.Fatalf("its networks: %v", w.Networks)
	}
	if want := "http://" + network.Aliases[0] + ":8000"; *w.Environment["MOLECULE_WORKSPACE_URL"] != want {
		t.Errorf("it registers %s, and is at %s", *w.Environment["MOLECULE_WORKSPACE_URL"], want)
	}
	if n := project.Networks["platform"]; !bool(n.External) || n.Name != "molecule-core-net" {
		t.Errorf("the platform's network is %+v", n)
	}
}
