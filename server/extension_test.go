package server

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// TestMethodsOfExtensions stand beside those of A2A, behind the same door, and take
// the place of none.
func TestMethodsOfExtensions(t *testing.T) {
	var asked string
	s := start(t, Config{Token: "sesame", Methods: map[string]func(context.Context, json.RawMessage) (any, error){
		"Extra": func(_ context.Context, params json.RawMessage) (any, error) {
			asked = string(params)
			return map[string]int{"n": 1}, nil
		},
		"Fails": func(context.Context, json.RawMessage) (any, error) { return nil, errors.New("secret of the disk") },
		"Refuses": func(context.Context, json.RawMessage) (any, error) {
			return nil, a2a.NewError(a2a.ErrInvalidParams, "no")
		},
		"Panics":  func(context.Context, json.RawMessage) (any, error) { panic("oh") },
		"GetTask": func(context.Context, json.RawMessage) (any, error) { return "mine", nil },
	}})
	call := func(method string, header ...string) answer {
		return do(t, "POST", s.URL+"/", `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{"a":1}}`, header...)
	}
	token := []string{"Authorization", "Bearer sesame"}
	if a := call("Extra", token...); string(a.rpc(t).Result) != `{"n":1}` || asked != `{"a":1}` {
		t.Errorf("Extra = %s, asked %s", a.body, asked)
	}
	if a := call("Extra"); a.status != 401 {
		t.Errorf("without a token: %d", a.status)
	}
	for method, code := range map[string]int{"Fails": -32603, "Panics": -32603, "Refuses": -32602} {
		a := call(method, token...)
		if e := a.rpc(t).Error; e == nil || e.Code != code || strings.Contains(a.body, "disk") {
			t.Errorf("%s = %s", method, a.body)
		}
	}
	if a := call("GetTask", token...); string(a.rpc(t).Result) == `"mine"` {
		t.Error("a method of A2A was replaced")
	}
}
