package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// An object is a JSON object of which only some members are looked at: the
// others are passed on as they were written.
type object map[string]json.RawMessage

func asObject(raw json.RawMessage, where string) (object, error) {
	var o object
	if err := json.Unmarshal(raw, &o); err != nil || o == nil {
		return nil, InvalidParams("%s must be an object", where)
	}
	return o, nil
}

// has reports whether the member is there and not null.
func (o object) has(name string) bool {
	raw, ok := o[name]
	return ok && !bytes.Equal(raw, Null)
}

// text returns the member if it is a string, else the empty string.
func (o object) text(name string) string {
	var s string
	if raw := o[name]; len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// wrongText reports whether the member is there and no string.
func (o object) wrongText(name string) bool {
	return o.has(name) && o[name][0] != '"'
}

func (o object) set(name string, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		raw = Null // cannot happen: v is text, bytes, or JSON that has been parsed
	}
	o[name] = raw
}

// first returns the first of the named members that is there.
func (o object) first(names ...string) json.RawMessage {
	for _, n := range names {
		if o.has(n) {
			return o[n]
		}
	}
	return nil
}

// copyFirst sets name to the first of the named members that from has.
func (o object) copyFirst(name string, from object, names ...string) {
	if v := from.first(names...); v != nil {
		o[name] = v
	}
}

// each replaces each value of the array that the named member is by what f makes of it. The
// errors name the array as where.
func (o object) each(name, where string, f func(raw json.RawMessage, where string) (object, error)) error {
	var values []json.RawMessage
	if json.Unmarshal(o[name], &values) != nil {
		return InvalidParams("%s must be an array", where)
	}
	out := make([]object, len(values))
	for i, raw := range values {
		var err error
		if out[i], err = f(raw, fmt.Sprintf("%s[%d]", where, i)); err != nil {
			return err
		}
	}
	o.set(name, out)
	return nil
}
