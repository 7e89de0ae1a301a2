package main

import (
	"debug/buildinfo"
	"errors"
	"os"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// bill writes what is in a binary, by what the linker has noted in it: so modules that
// are only named in go.mod do not stand there, and those that are linked do.
func (r release) bill(path, binary string) (err error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	sum, err := sumOf(binary)
	if err != nil {
		return err
	}
	main := component(info.Main.Path, r.version)
	main.Type = cdx.ComponentTypeApplication
	main.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: sum}}
	main.Licenses = &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}}

	// codex is no part of the archive, and nothing runs without it.
	codex := cdx.Component{
		BOMRef: "pkg:npm/%40openai/codex@" + r.codex, PackageURL: "pkg:npm/%40openai/codex@" + r.codex,
		Type: cdx.ComponentTypeApplication, Name: "@openai/codex", Version: r.codex, Scope: cdx.ScopeExcluded,
	}
	parts := []cdx.Component{codex, component("std", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		parts = append(parts, component(dep.Path, dep.Version))
	}
	refs := make([]string, 0, len(parts))
	for _, part := range parts {
		refs = append(refs, part.BOMRef)
	}

	bom := cdx.NewBOM() // without a serial number, which would have to be another each time
	bom.Metadata = &cdx.Metadata{Timestamp: r.when.Format(time.RFC3339), Component: &main}
	bom.Components = &parts
	bom.Dependencies = &[]cdx.Dependency{{Ref: main.BOMRef, Dependencies: &refs}}

	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return cdx.NewBOMEncoder(file, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6)
}

func component(path, version string) cdx.Component {
	url := "pkg:golang/" + strings.ToLower(path) + "@" + version
	return cdx.Component{
		BOMRef: url, PackageURL: url, Type: cdx.ComponentTypeLibrary,
		Name: path, Version: version, Scope: cdx.ScopeRequired,
	}
}
