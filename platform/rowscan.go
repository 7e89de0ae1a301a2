package platform

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"reflect"
	"strings"
)

// A rowScanner reads the first row of a page, however long that is, and keeps what is short of
// those of its members that have a meaning. What it skips is looked at for its end only.
type rowScanner struct {
	in      *bufio.Reader
	names   []string          // of the members that have a meaning
	members map[string][]byte // by their names; nil is one that is too long, or did not come to its end
	key     []byte            // room for one
}

func newRowScanner(in io.Reader) *rowScanner {
	return &rowScanner{
		in: bufio.NewReaderSize(in, 32<<10), names: rowMembers(), members: map[string][]byte{}, key: make([]byte, mostName),
	}
}

func (s *rowScanner) scan() error {
	for _, want := range "[{" {
		if c, err := s.sign(); err != nil || rune(c) != want {
			return cmp.Or(err, errNoRow)
		}
	}
	for {
		switch c, err := s.sign(); {
		case err != nil:
			return err
		case c == ',':
		case c == '"':
			_ = s.in.UnreadByte()
			if err := s.member(); err != nil {
				return err
			}
		case c == '}':
			if c, err = s.sign(); err != nil || c != ',' && c != ']' {
				return cmp.Or(err, errNoRow)
			}
			return nil
		default:
			return errNoRow
		}
	}
}

// member reads a member. Of several with the same name the last counts, but null, as they do in
// [encoding/json].
func (s *rowScanner) member() error {
	key, err := s.value(s.key[:0], mostName)
	if err != nil {
		return err
	}
	name := s.memberOf(key)
	if c, err := s.sign(); err != nil || c != ':' {
		return cmp.Or(err, errNoRow)
	}
	if name == "" {
		_, err := s.value(nil, 0)
		return err
	}
	before, had := s.members[name]
	s.members[name] = nil
	text, err := s.value([]byte{}, mostMember)
	if had && string(text) == "null" {
		text = before
	}
	s.members[name] = text
	return err
}

// value reads a value and returns its text, behind what is there already; nil if that is longer
// than most.
func (s *rowScanner) value(text []byte, most int) ([]byte, error) {
	if _, err := s.sign(); err != nil {
		return nil, err
	}
	_ = s.in.UnreadByte()
	var v valueScanner
	for ended := false; !ended; {
		some, err := s.in.Peek(max(1, s.in.Buffered()))
		if err != nil {
			return nil, err
		}
		var n int
		n, ended = v.end(some)
		if text != nil && len(text)+n <= most {
			text = append(text, some[:n]...)
		} else {
			text = nil
		}
		_, _ = s.in.Discard(n) // it is there
	}
	return text, nil
}

// A valueScanner looks for the end of a value in JSON, which comes in pieces.
type valueScanner struct {
	open            int // objects and lists
	quoted, escaped bool
	begun           bool
}

// end returns how much of the text is of the value, and whether it ends there.
func (v *valueScanner) end(text []byte) (n int, ended bool) {
	for at, c := range text {
		switch {
		case v.escaped:
			v.escaped = false
			continue
		case v.quoted:
			v.escaped, v.quoted = c == '\\', c != '"'
			if v.quoted {
				continue
			}
		case v.begun && v.open == 0 && isEnd(c): // behind a number, or a word
			return at, true
		case c == '"':
			v.quoted = true
		case c == '{', c == '[':
			v.open++
		case c == '}', c == ']':
			v.open--
		}
		v.begun = true
		if v.open == 0 && !v.quoted && (c == '"' || c == '}' || c == ']') {
			return at + 1, true
		}
	}
	return len(text), false
}

func isEnd(c byte) bool {
	switch c {
	case ',', ':', ']', '}', ' ', '\t', '\r', '\n':
		return true
	}
	return false
}

// sign is the next byte that is no blank.
func (s *rowScanner) sign() (byte, error) {
	for {
		c, err := s.in.ReadByte()
		if err != nil || strings.IndexByte(" \t\r\n", c) < 0 {
			return c, err
		}
	}
}

// named reports whether the row's id has come.
func (s *rowScanner) named() bool {
	id := s.members["id"]
	return len(id) > len(`""`) && id[0] == '"'
}

// page is one with what there is of the row. In the place of what was left out stands what is
// no text, so that a sender of that kind is nobody who is known and not the user; likewise of
// what did not come because the row was given up. A response that did not come is none.
func (s *rowScanner) page(over bool) (page []byte, cut []string) {
	page = []byte("[{")
	for _, name := range s.names {
		text, had := s.members[name]
		if !had && (!over || name == "response_body") {
			continue
		}
		if text == nil {
			text, cut = []byte("{}"), append(cut, name)
		}
		if len(page) > len("[{") {
			page = append(page, ',')
		}
		page = append(page, `"`+name+`":`...)
		page = append(page, text...)
	}
	return append(page, "}]"...), cut
}

// rowMembers are the names of a row's members that have a meaning.
func rowMembers() (names []string) {
	for field := range reflect.TypeFor[Row]().Fields() {
		if name := field.Tag.Get("json"); name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// memberOf is the member that a key in JSON names, as [encoding/json] takes it; "" if it has no
// meaning.
func (s *rowScanner) memberOf(key []byte) string {
	if bytes.IndexByte(key, '\\') >= 0 {
		var text string
		_ = json.Unmarshal(key, &text) // what is no text names nothing
		key = []byte(text)
	}
	key = bytes.Trim(key, `"`)
	for _, name := range s.names {
		if strings.EqualFold(name, string(key)) {
			return name
		}
	}
	return ""
}
