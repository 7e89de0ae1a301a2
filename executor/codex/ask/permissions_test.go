package ask

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

const askPermissions = "item/permissions/requestApproval"

// TestPermissionsSayWhereTheyLead: a link is shown with its end, and one that leads elsewhere
// by the time of the answer is noticed, whichever way its path was asked for.
func TestPermissionsSayWhereTheyLead(t *testing.T) {
	t.Parallel()
	dir := codextest.Dir(t, "links")
	plain, link, before, after := filepath.Join(dir, "plain"), filepath.Join(dir, "link"), filepath.Join(dir, "before"), filepath.Join(dir, "after")
	for method, body := range map[string]string{askCommand: `{"command":"ls","cwd":%q,"additionalPermissions":%s}`, askPermissions: `{"cwd":%q,"permissions":%s}`} {
		for name, files := range map[string]string{
			"entries": `{"fileSystem":{"read":null,"write":null,"entries":[{"path":{"type":"path","path":%q},"access":"write"},{"path":{"type":"path","path":%q},"access":"read"}]}}`,
			"lists":   `{"fileSystem":{"read":[%q],"write":[%q]}}`,
		} {
			_ = os.Remove(link)
			if err := os.Symlink(before, link); err != nil {
				t.Fatal(err)
			}
			p := poseOf(t, method, fmt.Sprintf(body, dir, fmt.Sprintf(files, plain, link)))
			if line := "A link: " + link + " leads to " + before + "\n"; strings.Count(p.text+"\n", "A link: ") != 1 || !strings.Contains(p.text+"\n", line) {
				t.Errorf("%s, %s: the text is %q", method, name, p.text)
			}
			if leads := fmt.Sprint(p.data["leads"]); leads != fmt.Sprintf("[map[path:%s to:%s]]", link, before) {
				t.Errorf("%s, %s: the data is %s", method, name, leads)
			}
			if note := p.Moved(whereabouts); note != "" || len(p.Places) != 3 {
				t.Errorf("%s, %s: %d places, of which one has moved: %q", method, name, len(p.Places), note)
			}
			if err := os.Remove(link); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(after, link); err != nil {
				t.Fatal(err)
			}
			if note := p.Moved(whereabouts); !strings.Contains(note, link+" leads elsewhere") {
				t.Errorf("%s, %s: a link that was swapped: %q", method, name, note)
			}
		}
	}
}

// TestLinksAreNotForged: the name of a link writes no line that is ours, and no secret.
func TestLinksAreNotForged(t *testing.T) {
	t.Parallel()
	dir := codextest.Dir(t, "links")
	link := filepath.Join(dir, "s3cret\nDirectory: x")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	p := poseOf(t, askPermissions, fmt.Sprintf(`{"permissions":{"fileSystem":{"write":[%s]}}}`, quotedJSON(link)))
	if all := p.text + fmt.Sprint(p.data); strings.Contains(p.text, "\nDirectory") || strings.Contains(all, "s3cret") || p.data["leads"] == nil {
		t.Errorf("the text is %q, the data %v", p.text, p.data)
	}
}
