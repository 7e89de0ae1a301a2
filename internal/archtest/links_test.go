package archtest

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// A document is a Markdown file: its links, and the anchors that others may link to.
type document struct {
	links   []string
	anchors []string
}

// TestLinks follows every relative link of every Markdown file, the anchor included.
// It goes by the names of files only, and looks at nothing on the network.
func TestLinks(t *testing.T) {
	root := os.DirFS("../..")
	documents := map[string]document{}
	for _, name := range markdown(t, root) {
		text, err := fs.ReadFile(root, name)
		if err != nil {
			t.Fatal(err)
		}
		documents[name] = readDocument(string(text))
	}
	if len(documents) < 20 {
		t.Fatalf("found %d documents only", len(documents))
	}
	for name, d := range documents {
		for _, link := range d.links {
			if err := follow(root, documents, name, link); err != nil {
				t.Errorf("%s: %s: %v", name, link, err)
			}
		}
	}
}

// TestWhereItIsHad: nothing sends people to the web pages of the module's path, which are
// gone. The path is still the name of the module, and of the extensions of A2A. Releases
// are where the block of the Connect dialog takes them from.
func TestWhereItIsHad(t *testing.T) {
	root := os.DirFS("../..")
	read := func(name string) string {
		text, err := fs.ReadFile(root, name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	dead := regexp.MustCompile(`https://github\.com/Molecule-AI/molecule-codex-runtime/?(extensions/)?`)
	for _, name := range append(markdown(t, root), "deploy/systemd/molecule-codex@.service") {
		for _, found := range dead.FindAllStringSubmatch(read(name), -1) {
			if found[1] == "" {
				t.Errorf("%s sends people to %s", name, found[0])
			}
		}
	}
	from := regexp.MustCompile(`https://\S+/releases/download/\$release`)
	block, page := from.FindString(read("connect/codex.snippet")), from.FindString(read("docs/getting-started.md"))
	if block == "" || page != block {
		t.Errorf("docs/getting-started.md has %q, and the block %q", page, block)
	}
}

// TestEveryPageIsOnTheMap keeps docs/README.md the way to every page of docs.
func TestEveryPageIsOnTheMap(t *testing.T) {
	root := os.DirFS("../..")
	text, err := fs.ReadFile(root, "docs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	links := readDocument(string(text)).links
	for _, name := range markdown(t, root) {
		page, ok := strings.CutPrefix(name, "docs/")
		if ok && page != "README.md" && !slices.Contains(links, page) {
			t.Errorf("docs/README.md does not lead to %s", page)
		}
	}
}

// markdown lists the Markdown files of the tree, but for what was installed or built.
func markdown(t *testing.T, root fs.FS) []string {
	t.Helper()
	var names []string
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (slices.Contains([]string{".git", ".tools", "bin", "dist"}, name) || entry.Name() == "node_modules") {
			return fs.SkipDir
		}
		if strings.HasSuffix(name, ".md") && entry.Type().IsRegular() {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

var (
	fence      = regexp.MustCompile("(?ms)^[ ]*(```|~~~).*?^[ ]*(```|~~~)[ ]*$")
	inlineCode = regexp.MustCompile("`[^`\n]*`")
	linkTarget = regexp.MustCompile(`\]\(([^()\s]+(?:\([^()\s]*\)[^()\s]*)*)\)|(?:src|srcset|href)="([^"]+)"`)
	linkText   = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	heading    = regexp.MustCompile(`(?m)^ {0,3}#{1,6} +(.+?)[ #]*$`)
	anchorTag  = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
)

func readDocument(text string) document {
	var d document
	text = fence.ReplaceAllString(text, "")
	seen := map[string]int{}
	for _, match := range heading.FindAllStringSubmatch(text, -1) {
		slug := slugOf(match[1])
		if n := seen[slug]; n > 0 {
			d.anchors = append(d.anchors, fmt.Sprintf("%s-%d", slug, n))
		} else {
			d.anchors = append(d.anchors, slug)
		}
		seen[slug]++
	}
	for _, match := range anchorTag.FindAllStringSubmatch(text, -1) {
		d.anchors = append(d.anchors, match[1])
	}
	for _, match := range linkTarget.FindAllStringSubmatch(inlineCode.ReplaceAllString(text, "code"), -1) {
		d.links = append(d.links, match[1]+match[2])
	}
	return d
}

// slugOf is the anchor that GitHub gives a heading.
func slugOf(text string) string {
	text = linkText.ReplaceAllString(text, "$1")
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ' || r == '-':
			return '-'
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(text))
}

func follow(root fs.FS, documents map[string]document, from, link string) error {
	target, err := url.Parse(link)
	if err != nil {
		return err
	}
	if target.Scheme != "" || target.Host != "" {
		return nil
	}
	name := from
	if target.Path != "" {
		name = path.Join(path.Dir(from), target.Path)
	}
	if !fs.ValidPath(name) {
		return fmt.Errorf("leads out of the tree")
	}
	if _, err := fs.Stat(root, name); err != nil {
		return fmt.Errorf("there is no %s", name)
	}
	if target.Fragment == "" {
		return nil
	}
	if d, ok := documents[name]; ok && !slices.Contains(d.anchors, target.Fragment) {
		return fmt.Errorf("%s has no heading for #%s", name, target.Fragment)
	}
	return nil
}

func TestReadDocument(t *testing.T) {
	d := readDocument("# The `x` of [y](z.md), *really*!\n\n## Again\n## Again\n```\n# no\n[no](no.md)\n```\n`[no](no.md)` [yes](a/b.md#c) ![p](p.svg) <img src=\"q.png\">\n")
	if want := []string{"the-x-of-y-really", "again", "again-1"}; !slices.Equal(d.anchors, want) {
		t.Errorf("anchors %q, want %q", d.anchors, want)
	}
	if want := []string{"z.md", "a/b.md#c", "p.svg", "q.png"}; !slices.Equal(d.links, want) {
		t.Errorf("links %q, want %q", d.links, want)
	}
}
