package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const someVersion = "v1.2.3"

// TestSourceSum has Go itself say the sum of the module. With -all it also installs the
// program from there, which compiles all of it once more.
func TestSourceSum(t *testing.T) {
	here, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	want, err := sourceSum(t.Context(), here, someVersion)
	if err != nil || !strings.HasPrefix(want, "h1:") {
		t.Fatalf("%q, %v", want, err)
	}
	bin := t.TempDir()
	env := append(os.Environ(), "GOPROXY="+moduleProxy(t, here)+","+ownCache(t), "GOSUMDB=off", "GOFLAGS=-modcacherw",
		"GOMODCACHE="+t.TempDir(), "GOBIN="+bin, "GOWORK=off", "CGO_ENABLED=0")
	var said struct{ Sum string }
	if err := json.Unmarshal(runIn(t, bin, env, "go", "mod", "download", "-json", modulePath+"@"+someVersion), &said); err != nil || said.Sum != want {
		t.Errorf("Go says %q, %v, and the release %q", said.Sum, err, want)
	}
	if !*all {
		return
	}
	runIn(t, bin, env, "go", "install", "-trimpath", modulePath+"/cmd/runtime@"+someVersion)
	if said := runIn(t, bin, env, filepath.Join(bin, "runtime"), "version"); !strings.HasPrefix(string(said), "runtime v1.2.3 ") {
		t.Errorf("it says %s", said)
	}
	if block := string(runIn(t, bin, env, filepath.Join(bin, "runtime"), "connect", "--template")); !strings.Contains(block, "\nrelease=v1.2.3\nsums='source="+want+"'\n") {
		t.Errorf("its block has not the sum of the source that it is built from")
	}
}

// TestNoSourceSum: Go takes no such version for a module's.
func TestNoSourceSum(t *testing.T) {
	for _, version := range []string{"abd34d61", "v1", "1.2.3", "dev"} {
		if sum, err := sourceSum(t.Context(), "../..", version); sum != "" || err != nil {
			t.Errorf("%s: %q, %v", version, sum, err)
		}
	}
}

// moduleProxy is a folder that offers the module as module proxies do.
func moduleProxy(t *testing.T, root string) (url string) {
	t.Helper()
	folder := t.TempDir()
	escaped, err := module.EscapePath(modulePath)
	if err != nil {
		t.Fatal(err)
	}
	versions := filepath.Join(folder, escaped, "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"list": someVersion + "\n", someVersion + ".mod": string(mod), someVersion + ".info": `{"Version":"` + someVersion + `"}`} {
		if err := os.WriteFile(filepath.Join(versions, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := moduleFiles(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	archive, err := os.Create(filepath.Join(versions, someVersion+".zip"))
	if err == nil {
		err = zip.Create(archive, module.Version{Path: modulePath, Version: someVersion}, files)
	}
	if err == nil {
		err = archive.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return "file://" + folder
}

// ownCache is what this machine has of the modules that ours is built from.
func ownCache(t *testing.T) (url string) {
	t.Helper()
	return "file://" + filepath.Join(strings.TrimSpace(string(runIn(t, ".", os.Environ(), "go", "env", "GOMODCACHE"))), "cache/download")
}

func runIn(t *testing.T, dir string, env []string, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, env
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v: %s%s", name, args, err, said.String(), out)
	}
	return out
}
