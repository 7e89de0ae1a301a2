package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const module = "github.com/Molecule-AI/molecule-codex-runtime/"

// try runs the tests on the codex at bin, and notes what came of it.
func try(version, bin, page string) error {
	fmt.Printf("compat: codex %s\n", version)
	var all outcome
	for _, tests := range [][]string{
		{"./appserver/...", "./preflight", "./internal/codexfit", "./executor/codex/..."},
		append([]string{"-run", aboutCodex()}, "./e2e"),
	} {
		if err := all.run(bin, tests...); err != nil {
			return err
		}
	}
	unknown, stale := all.judge(differencesOf(version))
	unknown, err := all.again(bin, unknown)
	if err != nil {
		return err
	}
	for _, name := range stale {
		fmt.Printf("compat: %s passes on codex %s: the difference that it shows may be gone\n", name, version)
	}
	if len(unknown) > 0 {
		return fmt.Errorf("codex %s: %d tests fail that no known difference explains: %s", version, len(unknown), strings.Join(unknown, ", "))
	}
	if err := note(page, version, &all); err != nil {
		return err
	}
	fmt.Printf("ok\tcodex %s\t%d tests passed, %d show what is known to differ\n", version, all.passed, len(all.failed))
	return nil
}

// aboutCodex matches the tests of e2e that are about what codex does.
func aboutCodex() string {
	var names []string
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, file := range []string{"boot", "cancel", "commands", "held", "moves", "pictures", "progress", "question", "restart", "sandbox", "steer", "subagents", "told", "tools", "turns"} {
		text, err := os.ReadFile(filepath.Join("e2e", file+"_test.go"))
		if err != nil {
			panic(err) // it is a file of this repository
		}
		for _, match := range declared.FindAllSubmatch(text, -1) {
			names = append(names, string(match[1]))
		}
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// An outcome is what came of tests.
type outcome struct {
	passed int
	failed []string // by package and name; those alone that have failed themselves, and not by one below them
}

// run adds what comes of some tests. What they say of failures is printed.
func (o *outcome) run(bin string, tests ...string) error {
	args := []string{"test", "-json", "-vet=off", "-count=1", "-parallel", "4", "-timeout", "40m"}
	if os.Getenv("LONG") == "" {
		args = append(args, "-short")
	}
	args = append(args, tests...)
	cmd := exec.Command("go", args...)
	cmd.Env, cmd.Stderr = append(os.Environ(), "CODEX_BIN="+bin), os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	before := o.passed
	broken := o.read(out)
	if err := cmd.Wait(); err != nil && len(o.failed) == 0 || broken || o.passed == before && len(o.failed) == 0 {
		return errors.Join(errors.New("the tests could not be run: their words stand above"), err)
	}
	return nil
}

// An event is a line of go test -json.
type event struct{ Action, Package, Test, Output string }

// read takes the events of a run. It reports whether a package failed for another reason than its tests.
func (o *outcome) read(from io.Reader) (broken bool) {
	said, under := map[string][]string{}, map[string]bool{}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue
		}
		pkg := strings.TrimPrefix(e.Package, module) + "."
		name := pkg + e.Test
		switch e.Action {
		case "run":
			under[name] = true
		case "pass", "fail", "skip":
			delete(under, name)
		}
		switch {
		case e.Action == "output":
			said[name] = append(said[name], e.Output)
		case e.Action == "build-fail":
			broken = true
		case e.Action == "pass" && e.Test != "":
			o.passed++
			delete(said, name)
		case e.Action == "fail" && e.Test != "":
			fmt.Printf("--- FAIL: %s\n%s", name, strings.Join(said[name], ""))
			if !slices.ContainsFunc(o.failed, func(f string) bool { return strings.HasPrefix(f, name+"/") }) {
				o.failed = append(o.failed, name)
			}
		case e.Action == "fail" && !o.explains(pkg, under):
			fmt.Print(strings.Join(said[name], ""))
			broken = true
		}
	}
	return broken || lines.Err() != nil
}

// again runs tests that have failed by themselves: on a machine that is busy, one may fail for that. It returns those that
// fail again.
func (o *outcome) again(bin string, names []string) (failed []string, err error) {
	for _, name := range names {
		pkg, test, _ := strings.Cut(name, ".Test")
		test = "Test" + test
		var once outcome
		if err := once.run(bin, "-run", "^"+strings.ReplaceAll(regexp.QuoteMeta(test), "/", "$/^")+"$", "./"+pkg); err != nil {
			return nil, err
		}
		if len(once.failed) > 0 {
			failed = append(failed, name)
			continue
		}
		fmt.Printf("compat: %s has failed once, and passes by itself\n", name)
		o.passed += once.passed
		o.failed = slices.DeleteFunc(o.failed, func(f string) bool { return f == name })
	}
	return failed, nil
}

// explains reports whether a package has failed because of its tests: one of them has, and all have come to an end. One that
// hangs, or a panic, ends a package without that.
func (o *outcome) explains(pkg string, under map[string]bool) bool {
	for name, runs := range under {
		if runs && strings.HasPrefix(name, pkg) {
			return false
		}
	}
	return slices.ContainsFunc(o.failed, func(f string) bool { return strings.HasPrefix(f, pkg) })
}

// judge says which tests fail that nothing known explains, and which pass that were known to fail.
func (o *outcome) judge(differs []difference) (unknown, stale []string) {
	var known []string
	for _, d := range differs {
		known = append(known, d.tests...)
	}
	below := func(name, parent string) bool { return name == parent || strings.HasPrefix(name, parent+"/") }
	for _, name := range o.failed {
		if !slices.ContainsFunc(known, func(k string) bool { return below(name, k) }) {
			unknown = append(unknown, name)
		}
	}
	for _, k := range known {
		if !slices.ContainsFunc(o.failed, func(name string) bool { return below(name, k) }) {
			stale = append(stale, k)
		}
	}
	return unknown, stale
}
