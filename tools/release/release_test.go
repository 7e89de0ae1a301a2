package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

var all = flag.Bool("all", false, "compare the archives of every target, and not only this machine's, and compile all of it twice")

// TestReproducible builds the same source twice, in two places, and compares all bytes.
// With -all nothing of the first build helps the second.
func TestReproducible(t *testing.T) {
	args := []string{"-version", "v1.2.3", "-epoch", "1700000000"}
	if !*all {
		args = append(args, "-targets", runtime.GOOS+"/"+runtime.GOARCH)
	}
	here, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	first, second := made(t, here, args), made(t, elsewhere(t, here), args)
	for name, content := range first {
		if !bytes.Equal(content, second[name]) {
			t.Errorf("%s is another one the second time", name)
		}
	}
	if want := 4; len(first) < want || len(second) != len(first) {
		t.Errorf("got %d and %d files", len(first), len(second))
	}
	looked := 0
	for name, content := range first {
		switch {
		case strings.HasSuffix(name, ".tar.gz"):
			checkArchive(t, content)
		case strings.HasSuffix(name, ".cdx.json"):
			checkBill(t, content)
		case name == blockFile:
			checkBlock(t, content, string(first[sumsFile]))
		default:
			continue
		}
		looked++
	}
	if looked+1 != len(first) || len(first[sumsFile]) == 0 {
		t.Errorf("got %v", len(first))
	}
}

// elsewhere copies the source, as git has it and with what is not committed, to another
// place.
func elsewhere(t *testing.T, root string) string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	names, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	there := t.TempDir()
	for name := range strings.SplitSeq(strings.TrimRight(string(names), "\x00"), "\x00") {
		info, err := os.Lstat(filepath.Join(root, name))
		if errors.Is(err, os.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue
		}
		content, err := os.ReadFile(filepath.Join(root, name))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(there, name)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(there, name), content, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	runIn(t, there, os.Environ(), "git", "init", "-q") // the release asks git what is source
	if *all {
		t.Setenv("GOCACHE", t.TempDir())
	}
	return there
}

// made builds a release and returns its files.
func made(t *testing.T, root string, args []string) map[string][]byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "dist")
	if err := run(t.Context(), append([]string{"-root", root, "-out", out}, args...)); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	entries, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if files[entry.Name()], err = os.ReadFile(filepath.Join(out, entry.Name())); err != nil {
			t.Fatal(err)
		}
	}
	check := exec.CommandContext(t.Context(), "sha256sum", "-c", "--strict", sumsFile)
	check.Dir = out
	if said, err := check.CombinedOutput(); err != nil && !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("the checksums: %v: %s", err, said)
	}
	return files
}

// checkArchive runs what was packed.
func checkArchive(t *testing.T, content []byte) {
	t.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	archive, dir := tar.NewReader(zipped), t.TempDir()
	var names []string
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, header.Name)
		body, err := io.ReadAll(archive)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(header.Name)), body, os.FileMode(header.Mode))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(names) != 4 || names[0] != program+"/runtime" {
		t.Errorf("it holds %v", names)
	}
	if *all {
		return // mostly of other machines
	}
	said, err := exec.CommandContext(t.Context(), filepath.Join(dir, "runtime"), "version").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(said), "runtime v1.2.3 ") {
		t.Errorf("it says %q, %v", said, err)
	}
}

// checkBill reads the bill as others do.
func checkBill(t *testing.T, content []byte) {
	t.Helper()
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(content), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for _, part := range *bom.Components {
		versions[part.Name] = part.Version
	}
	for _, name := range []string{"std", "@openai/codex", "zombiezen.com/go/sqlite", "github.com/a2aproject/a2a-go/v2"} {
		if versions[name] == "" {
			t.Errorf("the bill does not know %s", name)
		}
	}
	if _, there := versions["go.uber.org/goleak"]; there {
		t.Error("the bill knows what is used by tests only")
	}
}

// checkBlock holds the block's checksums to the file's.
func checkBlock(t *testing.T, content []byte, sums string) {
	t.Helper()
	found := regexp.MustCompile(`\nrelease=v1\.2\.3\nsums='([^']*)'\n`).FindSubmatch(content)
	if found == nil {
		t.Fatalf("the block names another release, or none: %.200s", content)
	}
	archives := 0
	for pair := range strings.FieldsSeq(string(found[1])) {
		system, sum, _ := strings.Cut(pair, "=")
		if system == "source" {
			continue // TestSourceSum
		}
		if archives++; !strings.Contains(sums, sum+"  "+program+"_"+system+archiveEnd+"\n") {
			t.Errorf("the block has %s, and the checksums are\n%s", pair, sums)
		}
	}
	if want := strings.Count(sums, archiveEnd); archives != want || strings.Count(string(found[1]), "source=h1:") != 1 {
		t.Errorf("the block has the checksums %s, want those of %d archives and of the source", found[1], want)
	}
}

// TestForeignFolder keeps what is of no release.
func TestForeignFolder(t *testing.T) {
	out := t.TempDir()
	precious := filepath.Join(out, "precious")
	if err := os.WriteFile(precious, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), []string{"-root", "../..", "-out", out, "-version", "v1", "-epoch", "1"}); err == nil {
		t.Error("it went on")
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
}
