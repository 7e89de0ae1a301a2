package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const (
	program    = "molecule-codex-runtime"
	sumsFile   = "SHA256SUMS"
	archiveEnd = ".tar.gz"
)

// build makes the archive of a target, and its bill of materials, and returns their names.
func (r release) build(ctx context.Context, target string) ([]string, error) {
	goos, goarch, ok := strings.Cut(target, "/")
	if !ok {
		return nil, fmt.Errorf("want system/architecture, such as linux/amd64")
	}
	scratch, err := os.MkdirTemp("", "release")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	binary := filepath.Join(scratch, "runtime")
	if err := r.compile(ctx, binary, goos, goarch); err != nil {
		return nil, err
	}
	name := strings.Join([]string{program, goos, goarch}, "_")
	files := []entry{{"runtime", binary, 0o755}}
	for _, text := range []string{"CHANGELOG.md", "LICENSE", "README.md"} {
		files = append(files, entry{text, filepath.Join(r.root, text), 0o644})
	}
	if err := r.pack(filepath.Join(r.out, name+archiveEnd), files); err != nil {
		return nil, err
	}
	if err := r.bill(filepath.Join(r.out, name+".cdx.json"), binary); err != nil {
		return nil, err
	}
	return []string{name + ".tar.gz", name + ".cdx.json"}, nil
}

// compile builds the program so that neither the place nor the state of the clone nor
// the environment shows in it.
func (r release) compile(ctx context.Context, binary, goos, goarch string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-mod=readonly",
		"-ldflags", "-s -w -buildid= -X main.version="+r.version+" -X main.moduleSum="+r.source, "-o", binary, "./cmd/runtime")
	cmd.Dir = r.root
	settled := []string{"CGO_ENABLED=0", "GOOS=" + goos, "GOARCH=" + goarch, "GOFLAGS=", "GOEXPERIMENT=",
		"GOAMD64=v1", "GOARM64=v8.0", "GOFIPS140=off", "GOWORK=off"}
	cmd.Env = append(cmd.Environ(), settled...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd.Run()
}

// checksums writes them as sha256sum -c reads them.
func (r release) checksums(names []string) error {
	slices.Sort(names)
	var text strings.Builder
	for _, name := range names {
		sum, err := sumOf(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%s  %s\n", sum, name)
	}
	return os.WriteFile(filepath.Join(r.out, sumsFile), []byte(text.String()), 0o644) //nolint:gosec // it is published
}

func sumOf(path string) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:]), nil
}
