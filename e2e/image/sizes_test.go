package image

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

var sizesFlag = flag.String("sizes", "", "file that TestSizes writes the image's sizes to, as benchstat reads them")

// TestSizes measures what the image takes on a disk. With -sizes it writes them down,
// for docs/benchmarks.md.
func TestSizes(t *testing.T) {
	im := open(t)
	whole, codex := onDisk(t, im.Root), onDisk(t, filepath.Join(im.Root, "opt", "codex"))
	runtime := im.Layers[len(im.Layers)-1].Size
	rows := fmt.Sprintf("date: %s\ncommit: %s\n", time.Now().UTC().Format(time.DateOnly), codextest.Commit())
	for _, part := range []struct {
		name string
		size int64
	}{{"whole", whole}, {"base", whole - codex - runtime}, {"codex", codex}, {"runtime", runtime}} {
		rows += fmt.Sprintf("BenchmarkImage/%s \t       1\t %.1f size-MB\n", part.name, float64(part.size)/1e6)
	}
	t.Log("\n" + rows)
	if *sizesFlag == "" {
		return
	}
	if err := os.WriteFile(*sizesFlag, []byte(rows), 0o644); err != nil {
		t.Fatal(err)
	}
}

// onDisk adds up the files below a folder, those with several names once.
func onDisk(t *testing.T, root string) (size int64) {
	t.Helper()
	seen := map[uint64]bool{}
	err := filepath.WalkDir(root, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Nlink > 1 {
			if seen[stat.Ino] {
				return nil
			}
			seen[stat.Ino] = true
		}
		size += info.Size()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return size
}
