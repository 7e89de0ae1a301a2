package ask

import (
	"encoding/json"
	"testing"
)

// TestFormSchema: what MCP servers may ask for is held to, and what is not understood is
// left to the server.
func TestFormSchema(t *testing.T) {
	const all = `{"$schema":"http://json-schema.org/draft-06/schema#","type":"object","required":["name"],"properties":{
		"name":{"type":"string","minLength":2,"maxLength":4},"age":{"type":"integer","minimum":18},"part":{"type":"number"},
		"mail":{"type":"string","format":"email"},"page":{"type":"string","format":"uri"},"day":{"type":"string","format":"date"},
		"at":{"type":"string","format":"date-time"},"odd":{"type":"string","format":"odd"},"sure":{"type":"boolean"},
		"one":{"type":"string","enum":["a","b"],"enumNames":["A","B"]},"of":{"type":"string","oneOf":[{"const":"x","title":"X"}]},
		"some":{"type":"array","items":{"type":"string","enum":["p","q"]},"maxItems":1}}}`
	for _, test := range []struct {
		schema, values string
		fits           bool
	}{
		{all, `{"name":"Ada","age":36,"part":0.5,"mail":"a@b.org","page":"https://b.org/x","day":"2026-02-28","at":"2026-02-28T01:02:03Z","odd":"?","sure":true,"one":"a","of":"x","some":["p"]}`, true},
		{all, `{"name":"Ada","more":1}`, true},
		{all, `{}`, false}, {all, `{"name":"A"}`, false}, {all, `{"name":"Adele"}`, false}, {all, `{"name":7}`, false},
		{all, `{"name":"Ada","age":17}`, false}, {all, `{"name":"Ada","age":36.5}`, false}, {all, `{"name":"Ada","age":"36"}`, false},
		{all, `{"name":"Ada","mail":"a b"}`, false}, {all, `{"name":"Ada","mail":"Ada <a@b.org>"}`, false},
		{all, `{"name":"Ada","page":"b.org"}`, false}, {all, `{"name":"Ada","day":"2026-02-30"}`, false}, {all, `{"name":"Ada","at":"2026-02-28"}`, false},
		{all, `{"name":"Ada","sure":"yes"}`, false}, {all, `{"name":"Ada","one":"c"}`, false}, {all, `{"name":"Ada","of":"y"}`, false},
		{all, `{"name":"Ada","some":["r"]}`, false}, {all, `{"name":"Ada","some":["p","q"]}`, false},
		{`{"type":"object","properties":{"a":{"$ref":"http://127.0.0.1:1/x"}}}`, `{"a":1}`, true},
		{`{"allOf":[{"$ref":"#"}]}`, `{"a":1}`, true},
		{`{"type":"object","properties":{"a":{"type":"string","pattern":"("}}}`, `{"a":1}`, true},
		{`"no object"`, `{"a":1}`, true}, {`null`, `{"a":1}`, true}, {`{"properties":7}`, `{"a":1}`, true}, {`true`, `{"a":1}`, true},
	} {
		var schema any
		var values map[string]any
		if err := json.Unmarshal([]byte(test.schema), &schema); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(test.values), &values); err != nil {
			t.Fatal(err)
		}
		if err := readFormSchema(schema).fits(values); (err == nil) != test.fits {
			t.Errorf("%s in %.40s: %v", test.values, test.schema, err)
		}
	}
}
