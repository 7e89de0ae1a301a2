package ask

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// TestLeads: the folder of a command and the files of a change are shown with where they lead,
// where links lead them elsewhere. A folder stands for the files in it.
func TestLeads(t *testing.T) {
	t.Parallel()
	dir := codextest.Dir(t, "work")
	outside, build, file, plain := filepath.Join(dir, "outside"), filepath.Join(dir, "build"), filepath.Join(dir, "file"), filepath.Join(dir, "plain")
	for _, step := range []error{
		os.Mkdir(outside, 0o700), os.Symlink(outside, build), os.Symlink(filepath.Join(outside, "target"), file), os.Mkdir(plain, 0o700),
	} {
		if step != nil {
			t.Fatal(step)
		}
	}
	folder := map[string]any{"path": build, "to": outside}
	changes := func(paths ...string) (all []agent.Change) {
		for _, path := range paths {
			all = append(all, agent.Change{Path: path})
		}
		return all
	}
	moved := changes(filepath.Join(plain, "a"))
	moved[0].To = filepath.Join(build, "a")
	for name, c := range map[string]struct {
		method, request string
		changes         []agent.Change
		want            []any
	}{
		"folder of a command":  {askCommand, fmt.Sprintf(`{"command":"ls","cwd":%q}`, build), nil, []any{folder}},
		"below it":             {askCommand, fmt.Sprintf(`{"command":"ls","cwd":%q}`, build+"/x"), nil, []any{map[string]any{"path": build + "/x", "to": outside + "/x"}}},
		"folder of a plea":     {askPermissions, fmt.Sprintf(`{"cwd":%q,"permissions":{"fileSystem":{"read":[%[1]q]}}}`, build), nil, []any{folder}},
		"plain":                {askCommand, fmt.Sprintf(`{"command":"ls","cwd":%q}`, plain), nil, nil},
		"files in it":          {askChange, `{"itemId":"i"}`, changes(build+"/a", build+"/b", plain+"/c"), []any{folder}},
		"file that is a link":  {askChange, `{"itemId":"i"}`, changes(file, plain+"/c"), []any{map[string]any{"path": file, "to": outside + "/target"}}},
		"file that moves":      {askChange, `{"itemId":"i"}`, moved, []any{folder}},
		"all below a folder":   {askChange, fmt.Sprintf(`{"itemId":"i","grantRoot":%q}`, build), changes(plain + "/c"), []any{folder}},
		"files that are plain": {askChange, `{"itemId":"i"}`, changes(plain+"/a", plain+"/b"), nil},
	} {
		p := poseOf(t, c.method, c.request, c.changes...)
		if got := fmt.Sprint(p.data["leads"]); got != fmt.Sprint(c.want) && (c.want != nil || p.data["leads"] != nil) {
			t.Errorf("%s: the data is %s, want %v", name, got, c.want)
		}
		if lines := strings.Count(p.text, "\nA link: "+dir); lines != len(c.want) {
			t.Errorf("%s: the text is %q", name, p.text)
		}
	}
}

// TestLinkToTheWorkingDirectory is the operator's: what lies there by its name is not shown
// with it.
func TestLinkToTheWorkingDirectory(t *testing.T) {
	t.Parallel()
	dir := codextest.Dir(t, "links")
	work, outside := filepath.Join(dir, "work"), codextest.Dir(t, "outside")
	if err := os.Symlink(codextest.Dir(t, "real"), work); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(work, "build")); err != nil {
		t.Fatal(err)
	}
	with := &draft{View: View{Hide: strings.Clone, Lead: whereabouts, Home: whereabouts([]string{work})[0]}}
	data := map[string]any{}
	with.leads(data, with.look(work, filepath.Join(work, "plain"), filepath.Join(work, "build")))
	if got, want := fmt.Sprint(data["leads"]), fmt.Sprintf("[map[path:%s to:%s]]", filepath.Join(work, "build"), outside); got != want {
		t.Errorf("the data is %s, want %s", got, want)
	}
}

// TestAddedInThePlaceOfAnother: codex calls a file new that takes the place of one, and a question
// says so.
func TestAddedInThePlaceOfAnother(t *testing.T) {
	t.Parallel()
	dir := codextest.Dir(t, "work")
	there := filepath.Join(dir, "there")
	if err := os.WriteFile(there, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		kind, path, to string
		want           bool
	}{
		"new":          {"add", filepath.Join(dir, "new"), "", false},
		"replaced":     {"add", there, "", true},
		"changed":      {"update", there, "", false},
		"renamed":      {"update", there, filepath.Join(dir, "new"), false},
		"renamed over": {"update", filepath.Join(dir, "new"), there, true},
		"deleted":      {"delete", there, "", false},
	} {
		p := poseOf(t, askChange, `{"itemId":"i"}`, agent.Change{Path: c.path, To: c.to, Kind: c.kind})
		one, _ := p.data["changes"].([]any)[0].(map[string]any)
		if said := strings.Contains(p.text, ", in the place of what is there\n"); said != c.want || (one["replaces"] == true) != c.want {
			t.Errorf("%s: %q, %v", name, p.text, one)
		}
	}
}
