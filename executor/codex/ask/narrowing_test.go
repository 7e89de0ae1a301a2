package ask

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// inW has something against paths below /w.
var inW = Terms{Unfit: func(paths []string) map[string]string {
	why := map[string]string{}
	for _, path := range paths {
		if strings.HasPrefix(path, "/w") {
			why[path] = "lies in /w"
		}
	}
	return why
}}

// poseIn is poseOf where some paths are unfit.
func poseIn(t *testing.T, method, request string) Posed {
	t.Helper()
	return readOf(t, method, request, inW).Pose(viewOf())
}

// TestPermissionsAreNarrowed: a "yes" grants what commands cannot lead elsewhere, and the question
// has no more than that; where nothing is left nobody is asked.
func TestPermissionsAreNarrowed(t *testing.T) {
	t.Parallel()
	entry := func(access, path string) string {
		return fmt.Sprintf(`{"access":%q,"path":{"path":%q,"type":"path"}}`, access, path)
	}
	const special = `{"access":"write","path":{"type":"special","value":{"kind":"project_roots","subpath":"a"}}}`
	for asked, want := range map[string]string{
		`{"fileSystem":{"write":["/w/a","/x"],"read":null}}`:                                                                         `{"fileSystem":{"read":null,"write":["/x"]}}`,
		`{"fileSystem":{"write":["/w/a"],"read":["/w/a"]}}`:                                                                          `{"fileSystem":{"read":["/w/a"],"write":[]}}`,
		`{"fileSystem":{"write":["/w/a"],"read":[]},"network":{"enabled":true}}`:                                                     `{"network":{"enabled":true}}`,
		`{"fileSystem":{"write":["/w/s3cret"],"read":null},"network":null}`:                                                          ``,
		`{"fileSystem":{"entries":[` + entry("write", "/w/a") + `]}}`:                                                                ``,
		`{"fileSystem":{"entries":[` + entry("deny", "/w/a") + `,` + entry("write", "/w/b") + `]}}`:                                  ``,
		`{"fileSystem":{"entries":[` + special + `,` + entry("unheard-of", "/w/a") + `,7]}}`:                                         ``,
		`{"fileSystem":{"entries":[` + entry("deny", "/w/a") + `,` + entry("write", "/x") + `,` + entry("read", "/w") + `]}}`:        `{"fileSystem":{"entries":[` + entry("deny", "/w/a") + `,` + entry("write", "/x") + `,` + entry("read", "/w") + `]}}`,
		`{"fileSystem":{"entries":[` + entry("write", "/w/a") + `,` + entry("write", "/x") + `],"write":["/w/a","/x"],"read":null}}`: `{"fileSystem":{"entries":[` + entry("write", "/x") + `],"read":null,"write":["/x"]}}`,
	} {
		p := poseIn(t, askPermissions, `{"permissions":`+asked+`}`)
		if want == "" {
			notice, _ := p.Unaskable(false)
			if !strings.Contains(notice, "lies in /w") && !strings.Contains(notice, "no path") || strings.Contains(notice, "s3cret") {
				t.Errorf("%s: %q is said", asked, notice)
			}
			want = `{}`
		} else if p.barred != "" || strings.Contains(p.text, "write /w") || (p.data["withheld"] != nil) != (len(asked) > len(want)) || strings.Contains(p.text, "whatever is answered: ") != (p.data["withheld"] != nil) {
			t.Errorf("%s: asked %q, %v", asked, p.text, p.data)
		}
		for _, word := range []string{"yes", "always"} {
			r, err := p.Answer(agent.Answer{Text: word})
			if err != nil {
				t.Fatal(err)
			}
			value, _ := r.Value.(map[string]any)
			if got, _ := json.Marshal(value["permissions"]); string(got) != want {
				t.Errorf("%s: %s grants %s, want %s", asked, word, got, want)
			}
		}
	}
}

// TestUnfitIsNotAsked where the answer is to all or nothing.
func TestUnfitIsNotAsked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method, request string
		opens           string
		barred          bool
	}{
		{askCommand, `{"command":"ls","cwd":"/w","additionalPermissions":{"fileSystem":{"write":["/x","/w/a"]}}}`, "[/w/a /x]", true},
		{askCommand, `{"command":"ls","cwd":"/w","additionalPermissions":{"fileSystem":{"write":["/x"],"read":["/w/a"]}}}`, "[/x]", false},
		{askCommand, `{"command":"ls","cwd":"/w"}`, "[]", false},
		{askChange, `{"itemId":"i","grantRoot":"/w/a"}`, "[/w/a]", true},
		{askChange, `{"itemId":"i","grantRoot":"/x"}`, "[/x]", false},
		{askChange, `{"itemId":"i"}`, "[]", false},
	} {
		if p := poseIn(t, c.method, c.request); (p.barred != "") != c.barred || fmt.Sprint(p.Opens) != c.opens {
			t.Errorf("%s: barred %q, opens %v", c.request, p.barred, p.Opens)
		}
	}
}
