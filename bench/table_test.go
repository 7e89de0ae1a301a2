package bench

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	// published is the run that docs/benchmarks.md shows.
	published = "results/published.txt"
	// imageSizes is what make image-test has measured, by IMAGE_SIZES.
	imageSizes = "results/image.txt"

	page   = "../docs/benchmarks.md"
	images = "../docs/images"
)

var (
	resultsFile = flag.String("results", published, "raw output of a run, for TestTable")
	update      = flag.Bool("update", false, "TestTable writes the tables and plots of the published run into docs")
)

// TestTable makes the tables and plots of the raw output of a run. For the published
// run it checks, or with -update writes, that docs has just these.
func TestTable(t *testing.T) {
	raw, err := os.ReadFile(*resultsFile)
	if err != nil {
		t.Fatal(err)
	}
	sizes, err := os.ReadFile(imageSizes)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	r := parse(string(raw))
	image := parse(string(sizes))
	r.rows = append(r.rows, image.rows...)
	r.config["image"] = image.config["date"] + ", commit " + image.config["commit"]
	promises, err := r.promises(bars())
	if err != nil {
		t.Fatalf("%s: %v", *resultsFile, err)
	}
	if *resultsFile != published {
		fmt.Print(promises + "\n" + r.everything())
		return
	}
	shown, pictures, err := draw(r)
	if err != nil {
		t.Fatalf("%s: %v", published, err)
	}
	keepPage(t, map[string]string{"bars": promises, "plots": shown, "values": r.everything()})
	keepPictures(t, pictures)
}

// draw returns the plots of a run, and the part of the page that shows them.
func draw(r report) (shown string, pictures map[string]string, err error) {
	var b strings.Builder
	pictures = map[string]string{}
	for _, f := range figures() {
		p, ok, err := f.plot(r, bars())
		if err != nil {
			return "", nil, err
		}
		if !ok {
			continue
		}
		name := f.file + ".svg"
		pictures[name] = p.svg()
		fmt.Fprintf(&b, "### %s\n\n![%s. %s](images/%s)\n\n%s\n\n", f.title, f.title, p.words(), name, strings.ReplaceAll(f.caption, "{image}", r.config["image"]))
	}
	return b.String(), pictures, nil
}

// keepPage holds the parts of the page that are made, by name, to what they have to be.
func keepPage(t *testing.T, made map[string]string) {
	t.Helper()
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for _, name := range slices.Sorted(maps.Keys(made)) {
		begin, end := "<!-- made by make bench: "+name+" -->\n", "<!-- end of "+name+" -->\n"
		before, rest, found := strings.Cut(text, begin)
		_, after, closed := strings.Cut(rest, end)
		if !found || !closed {
			t.Fatalf("%s has no place for the %s between %q and %q", page, name, begin, end)
		}
		text = before + begin + made[name] + end + after
	}
	keep(t, page, text)
}

// keepPictures holds the plots to what they have to be, and lets there be no others.
func keepPictures(t *testing.T, pictures map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(pictures)) {
		keep(t, filepath.Join(images, name), pictures[name])
	}
	there, _ := filepath.Glob(filepath.Join(images, "bench-*.svg"))
	for _, path := range there {
		if pictures[filepath.Base(path)] == "" {
			t.Errorf("%s is a plot of nothing", path)
		}
	}
}

// keep holds a file to its text, or with -update writes it.
func keep(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s does not show %s; run go test ./bench -run Table -update (%v)", path, published, err)
	}
}
