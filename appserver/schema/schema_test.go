package schema

import (
	"errors"
	"io/fs"
	"reflect"
	"slices"
	"testing"
	"testing/fstest"
)

func folder() *Folder {
	return Open(fstest.MapFS{
		"ClientRequest.json": {Data: []byte(`{"oneOf":[
			{"properties":{"method":{"enum":["turn/start"]}}}, {"properties":{"method":{"const":"thread/start"}}}]}`)},
		"v2/Turn.json": {Data: []byte(`{
			"properties":{"id":{"type":"string"},"items":{"type":"array","items":{"$ref":"#/definitions/Item"}},
				"error":{"anyOf":[{"$ref":"#/definitions/Error"},{"type":"null"}]},
				"env":{"type":"object","additionalProperties":{"properties":{"value":{"type":["string","null"]}}}}},
			"definitions":{
				"Item":{"oneOf":[{"properties":{"type":{"enum":["text"]},"text":{"type":"string"}}},
					{"properties":{"type":{"enum":["list"]},"of":{"type":"array","items":{"$ref":"#/definitions/Item"}}}}]},
				"Error":{"allOf":[{"properties":{"words":{"type":"string"}}}]}}}`)},
		"broken.json": {Data: []byte(`{`)},
	})
}

func TestMethods(t *testing.T) {
	got, err := folder().Methods("ClientRequest")
	if want := []string{"thread/start", "turn/start"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := folder().Methods("ServerRequest"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of a file that is not there: %v", err)
	}
	if _, err := folder().Methods("broken"); err == nil {
		t.Error("of a file that is no JSON: no error")
	}
}

// TestUses follows references, alternatives, lists, and the values of objects.
func TestUses(t *testing.T) {
	type item struct {
		Type string `json:"type"`
		Text string `json:"text"`
		Of   []item `json:"-"`
		Gone string `json:"gone,omitempty"`
	}
	type value struct {
		Value string `json:"value"`
	}
	type turn struct {
		ID    string `json:"id"`
		Items []item `json:"items"`
		Error *struct {
			Words string `json:"words"`
			Code  int    `json:"code"`
		} `json:"error"`
		Env map[string]value `json:"env"`
	}
	of, err := folder().Type("v2/Turn")
	if err != nil {
		t.Fatal(err)
	}
	found, missing := of.Uses(reflect.TypeFor[turn]())
	if want := []string{"error.code", "items.gone"}; !slices.Equal(missing, want) {
		t.Errorf("missing: %v, want %v", missing, want)
	}
	want := map[string]string{
		"id": "string", "items": "array", "items.type": "'list'|'text'", "items.text": "string",
		"error": "null", "error.words": "string", "env": "object", "env.*.value": "null|string",
	}
	if !reflect.DeepEqual(found, want) {
		t.Errorf("found %v, want %v", found, want)
	}
	if got, want := of.Values("items", "type"), []string{"text", "list"}; !slices.Equal(got, want) {
		t.Errorf("the kinds are %v, want %v", got, want)
	}
}
