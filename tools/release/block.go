package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const blockFile = "codex.snippet"

// block writes the block of the platform's Connect dialog for this release. The one in the
// program cannot have the checksums of the archives, since they hold the program.
func (r release) block(made []string) error {
	text, err := os.ReadFile(filepath.Join(r.root, "connect", blockFile))
	if err != nil {
		return err
	}
	var sums []string
	for _, name := range made {
		system, ok := strings.CutSuffix(strings.TrimPrefix(name, program+"_"), archiveEnd)
		if !ok {
			continue // a bill of materials
		}
		sum, err := sumOf(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		sums = append(sums, system+"="+sum)
	}
	if r.source != "" {
		sums = append(sums, "source="+r.source)
	}
	filled := string(text)
	for line, value := range map[string]string{"release=": r.version, "sums=": "'" + strings.Join(sums, " ") + "'"} {
		if strings.Count(filled, "\n"+line+"\n") != 1 {
			return fmt.Errorf("the block has not one line %s to fill in", line)
		}
		filled = strings.Replace(filled, "\n"+line+"\n", "\n"+line+value+"\n", 1)
	}
	return os.WriteFile(filepath.Join(r.out, blockFile), []byte(filled), 0o644) //nolint:gosec // it is published
}
