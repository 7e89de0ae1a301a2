package toolset_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
		"without":      {`{"name":"Grace"}`, merged(`{"name":"Grace"}`), ""},
		"another-url":  {`{"name":"Grace","url":"http://evil"}`, merged(`{"name":"Grace"}`), "stay as they are: url\""},
		"interfaces":   {`{"name":"Grace","supportedInterfaces":[{"url":"http://evil"}],"capabilities":null}`, merged(`{"name":"Grace"}`), "stay as they are: capabilities, supportedInterfaces\""},
		"spelled":      {`{"name":"Grace","URL":"http://evil","ſupportedInterfaces":[{"url":"http://evil"}],"SupportedInterfaces":[],"ſecuritySchemeſ":{}}`, merged(`{"name":"Grace"}`), "stay as they are: SupportedInterfaces, URL, ſecuritySchemeſ, ſupportedInterfaces\""},
		"its-own":      {`{"name":"Grace","description":"d","skills":[{"id":"s"}],"x":1}`, merged(`{"name":"Grace","description":"d","skills":[{"id":"s"}],"x":1}`), ""},
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
