package toolset_test

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/toolset"
)

// TestCardKeepsWhatIsTheRuntimes: without its url the platform finds no transcript, and
// with another it would send its requests there.
func TestCardKeepsWhatIsTheRuntimes(t *testing.T) {
	const current = `{"name":"us","description":"ours","url":"http://ws:8000/","skills":[],"capabilities":{"streaming":true},"supportedInterfaces":[{"url":"http://ws:8000/"}]}`
	merged := func(change string) map[string]any {
		var card map[string]any
		if err := json.Unmarshal([]byte(current), &card); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(change), &card); err != nil {
			t.Fatal(err)
		}
		return card
	}
	for name, c := range map[string]struct {
		card string
		want map[string]any
		note string
	}{
		"without":     {`{"name":"Grace"}`, merged(`{"name":"Grace"}`), ""},
		"another-url": {`{"name":"Grace","url":"http://evil"}`, merged(`{"name":"Grace"}`), "stay as they are: url\""},
		"interfaces":  {`{"name":"Grace","supportedInterfaces":[{"url":"http://evil"}],"capabilities":null}`, merged(`{"name":"Grace"}`), "stay as they are: capabilities, supportedInterfaces\""},
		"spelled":     {`{"name":"Grace","URL":"http://evil","ſupportedInterfaces":[{"url":"http://evil"}],"SupportedInterfaces":[],"ſecuritySchemeſ":{}}`, merged(`{"name":"Grace"}`), "stay as they are: SupportedInterfaces, URL, ſecuritySchemeſ, ſupportedInterfaces\""},
		"its-own":     {`{"name":"Grace","description":"d","skills":[{"id":"s"}],"x":1}`, merged(`{"name":"Grace","description":"d","skills":[{"id":"s"}]}`), "stay as they are: x\""},
		"other-names": {`{"name":"Grace","NAME":"Eve","icon_url":"http://i","Default-Input-Modes":["text/plain"]}`, merged(`{"name":"Grace","iconUrl":"http://i","defaultInputModes":["text/plain"]}`), ""},
		"no-text":     {`{"name":"Grace","description":{"url":"http://evil"},"version":[["x"]]}`, merged(`{"name":"Grace"}`), "stay as they are: description, version\""},
		"in-a-skill": {`{"name":"Grace","skills":[{"id":"s","security":[{"evil":[]}],"security_requirements":[],"input_modes":["a"]}],"provider":{"organization":"o","url":"http://o","x":{}}}`,
			merged(`{"name":"Grace","skills":[{"id":"s","inputModes":["a"]}],"provider":{"organization":"o","url":"http://o"}}`), "stay as they are: provider.x, skills.security, skills.security_requirements\""},
		"no-list":      {`{"name":"Grace","skills":null}`, merged(`{"name":"Grace"}`), ""},
		"without-name": {`{"url":"http://evil"}`, nil, ""},
	} {
		for by, config := range map[string]func(*toolset.Config){
			"platform": nil,
			"process":  func(c *toolset.Config) { c.Card = func() any { return json.RawMessage(current) } },
		} {
			t.Run(name+"/"+by, func(t *testing.T) {
				d := &double{}
				if by == "platform" {
					d.info = `{"id":"x","agent_card":` + current + `}`
				}
				got := call(t, tools(t, d, config), "update_agent_card", `{"card":`+c.card+`}`)
				if c.want == nil {
					if !got.Failed || len(d.done) != 0 {
						t.Errorf("%+v, and the platform got %+v", got, d.done)
					}
					return
				}
				if diff := cmp.Diff(c.want, d.done[0]); diff != "" || got.Failed || !strings.Contains(got.Text, c.note) {
					t.Errorf("%+v %s", got, diff)
				}
			})
		}
	}
}

// runtimes are the members of the cards of A2A 0.3 and 1.0 that the agent does not write.
var runtimes = []string{
	"url", "preferredTransport", "additionalInterfaces", "supportedInterfaces", "protocolVersion", "protocolVersions", "capabilities",
	"security", "securitySchemes", "securityRequirements", "supportsAuthenticatedExtendedCard", "supportsExtendedAgentCard", "signatures",
}

// TestCardMembers writes each member of A2A 0.3 and 1.0, in the spellings that readers of
// different languages know it by.
func TestCardMembers(t *testing.T) {
	const kept = "as the runtime has it"
	text, err := adapter.UnionCard(t.Context(), adapter.Card(adapter.Identity{Token: true}, "http://ws/"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for field := range reflect.TypeFor[a2a.AgentCard]().Fields() { // those that the runtime's has nothing in, too
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		all[name] = nil
	}
	for name := range all {
		if name != "name" && !slices.Contains(runtimes, name) && !slices.Contains(agents, name) {
			t.Errorf("it is not said who writes %q", name)
		}
	}
	for _, member := range append(slices.Clone(agents), runtimes...) {
		for _, name := range spellings(member) {
			d := &double{info: `{"id":"x","agent_card":{"` + member + `":"` + kept + `"}}`}
			got := call(t, tools(t, d, nil), "update_agent_card", `{"card":{"name":"Grace","`+name+`":"new"}}`)
			want := map[string]any{"name": "Grace", member: "new"}
			if slices.Contains(runtimes, member) {
				want[member] = kept
			}
			if diff := cmp.Diff(want, d.done[0]); diff != "" || got.Failed || strings.Contains(got.Text, name) != (want[member] == kept) {
				t.Errorf("%s: %+v %s", name, got, diff)
			}
		}
	}
}

// agents are those that it does.
var agents = []string{"description", "role", "version", "iconUrl", "documentationUrl", "defaultInputModes", "defaultOutputModes", "provider", "skills"}

// spellings are a name in camelCase, snake_case, kebab-case, and in letters that are the
// same to readers that look at no case.
func spellings(camel string) []string {
	apart := func(by string) string {
		return strings.ToLower(regexp.MustCompile("[A-Z]").ReplaceAllString(camel, by+"$0"))
	}
	return []string{
		camel, apart("_"), apart("-"), strings.ToUpper(apart("_")), strings.ToUpper(camel[:1]) + camel[1:],
		"_" + camel, strings.ReplaceAll(camel, "s", "ſ"),
	}
}

// TestCardWhereThereIsNone: a platform that has none, or shows none, gets the agent's, and
// no address of another's.
func TestCardWhereThereIsNone(t *testing.T) {
	for _, info := range []string{``, `{}`, `{"agent_card":null}`, `{"agent_card":"x"}`} {
		d := &double{info: info}
		got := call(t, tools(t, d, nil), "update_agent_card", `{"card":{"name":"Grace","url":"http://evil"}}`)
		if diff := cmp.Diff(map[string]any{"name": "Grace"}, d.done[0]); diff != "" || got.Failed {
			t.Errorf("%s: %+v %s", info, got, diff)
		}
	}
}
