package appserver

import (
	"encoding/json"
	"unicode/utf8"
)

// Decode reads the body of a notification into one of the …Note types.
func (n Notification) Decode(into any) error {
	if delta, ok := into.(*DeltaNote); ok && delta.scan(n.Params) {
		return nil
	}
	return json.Unmarshal(n.Params, into)
}

// scan reads a delta in a quarter of the time of encoding/json: there are thousands
// of them in a turn. It reports false for what it leaves to the other.
func (d *DeltaNote) scan(params []byte) bool {
	plain := true
	end, ok := scanObject(params, 0, func(key []byte, at int) int {
		var field *string
		switch string(key) {
		case "threadId": // is only looked at: the notification has it
		case "turnId":
			field = &d.TurnID
		case "itemId":
			field = &d.ItemID
		case "delta":
			field = &d.Delta
		default: // of another version, which may mean one of these by other letters
			plain = false
			return -1
		}
		end := skipValue(params, at)
		if end < 0 || !scanString(params[at:end], field) {
			plain = false
			return -1
		}
		return end
	})
	return plain && ok && skipSpace(params, end) == len(params)
}

// scanString reads a string that stands there as it is, or is short to decode. Without a place for it, it looks
// whether it stands there as it is.
func scanString(value []byte, into *string) bool {
	text := unquote(value)
	if text == nil {
		return false
	}
	ascii := true
	for _, b := range text {
		if b < ' ' || b == '\\' {
			return into != nil && json.Unmarshal(value, into) == nil
		}
		ascii = ascii && b < utf8.RuneSelf
	}
	if !ascii && !utf8.Valid(text) {
		return false
	}
	if into != nil {
		*into = string(text)
	}
	return true
}
