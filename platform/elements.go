package platform

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
)

// MostElements is how many elements of a list are read. Each takes memory, and an empty
// one has but two bytes, so what a list takes is known by their number only.
const MostElements = 10_000

// First reads the first elements of a list, at most so many, and says whether there are
// more. Of what is no list there are none. The text must be valid JSON, as that is which
// an [json.Unmarshaler] is given. Of an element that is of another form there is as much as
// fits, and the first error is that of the first such.
func First[T any](list []byte, most int) (first []T, more bool, err error) {
	for raw := range elements(list) {
		if len(first) == most {
			return first, true, err
		}
		var one T
		if odd := json.Unmarshal(raw, &one); err == nil {
			err = odd
		}
		first = append(first, one)
	}
	return first, false, err
}

// elements are those of a list, as they stand in it: nothing is copied.
func elements(list []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if list = bytes.TrimSpace(list); len(list) == 0 || list[0] != '[' {
			return
		}
		begin, open := 1, 0
		for at, c := range signs(list) {
			switch {
			case c == '[', c == '{':
				open++
			case open > 1 && (c == ']' || c == '}'):
				open--
			case open == 1:
				one := bytes.TrimSpace(list[begin:at])
				if len(one) > 0 && !yield(one) || c == ']' || c == '}' {
					return
				}
				begin = at + 1
			}
		}
	}
}

// signs are the brackets, braces and commas of a text in JSON, and where they stand in it. What
// they have passed may be overwritten meanwhile.
func signs(text []byte) iter.Seq2[int, byte] {
	return func(yield func(int, byte) bool) {
		quoted := false
		for at := 0; at < len(text); at++ {
			switch c := text[at]; {
			case quoted && c == '\\':
				at++
			case c == '"':
				quoted = !quoted
			case quoted:
			case c == '[', c == ']', c == '{', c == '}', c == ',':
				if !yield(at, c) {
					return
				}
			}
		}
	}
}

// A list is one of the platform's answers that has no more than [MostElements].
type list[T any] []T

// UnmarshalJSON implements [json.Unmarshaler].
func (l *list[T]) UnmarshalJSON(raw []byte) error {
	if len(raw) == 0 || raw[0] != '[' {
		return json.Unmarshal(raw, (*[]T)(l))
	}
	first, more, err := First[T](raw, MostElements)
	if more {
		return fmt.Errorf("%w: more than %d elements", ErrTooMuch, MostElements)
	}
	if first == nil {
		first = []T{} // an empty list is none that is missing
	}
	*l = first
	return err
}
