package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// widen writes a version into the window, with the checksums that the registry has.
func widen(version string) error {
	path := filepath.Join("appserver", "CODEX_WINDOW")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, version+" ") }) {
		return nil
	}
	line := []string{version}
	for _, platform := range []string{"linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"} {
		sum, err := exec.Command("npm", "view", "@openai/codex@"+version+"-"+platform, "dist.integrity").Output()
		if err != nil || !strings.HasPrefix(string(sum), "sha512-") {
			return errors.Join(fmt.Errorf("npm does not say which checksum codex %s has for %s, but %q", version, platform, sum), err)
		}
		line = append(line, platform+"="+strings.TrimSpace(string(sum)))
	}
	head := lines[0] // says what it is
	lines = append(lines[1:], strings.Join(line, " "))
	slices.SortFunc(lines, func(a, b string) int { return slices.Compare(numbers(a), numbers(b)) })
	return os.WriteFile(path, []byte(strings.Join(append([]string{head}, lines...), "\n")+"\n"), 0o644)
}

// numbers are those of the version that a line begins with.
func numbers(line string) (all []int) {
	version, _, _ := strings.Cut(line, " ")
	for part := range strings.SplitSeq(version, ".") {
		n, _ := strconv.Atoi(part)
		all = append(all, n)
	}
	return all
}
