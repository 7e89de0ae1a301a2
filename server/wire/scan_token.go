package wire

import (
	"encoding/binary"
	"unicode/utf8"
)

// The tokens of JSON.

// peek returns the byte that comes next, 0 at the end.
func (s *scan) peek() byte {
	if s.at < len(s.in) {
		return s.in[s.at]
	}
	return 0
}

// next passes over the byte that it returns.
func (s *scan) next() byte {
	c := s.peek()
	s.at++
	return c
}

func (s *scan) space() {
	for s.at < len(s.in) {
		switch s.in[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

func (s *scan) word(w string) bool {
	end := s.at + len(w)
	ok := end <= len(s.in) && string(s.in[s.at:end]) == w
	s.at = end
	return ok
}

// text passes over a string, and returns what stands between its quotes.
func (s *scan) text() ([]byte, bool) {
	if s.next() != '"' {
		return nil, false
	}
	in, begin, seen := s.in, s.at, uint64(0)
	for i := begin; ; i++ {
		for i+8 <= len(in) {
			eight := binary.LittleEndian.Uint64(in[i:])
			if !plain(eight) {
				break
			}
			seen |= eight
			i += 8
		}
		switch {
		case i >= len(in) || in[i] < ' ':
			return nil, false
		case in[i] == '"':
			s.at = i + 1
			s.notUTF8 = seen&highBits != 0 && !utf8.Valid(in[begin:i])
			return in[begin:i], !s.notUTF8
		case in[i] == '\\':
			if s.at = i + 1; !s.escape() {
				return nil, false
			}
			i = s.at - 1
		default:
			seen |= uint64(in[i])
		}
	}
}

const highBits = 0x8080808080808080 // which bytes of ASCII do not have

// plain reports whether none of eight bytes ends a string, begins an escape, or must not stand
// in one. It may say no of some of which none does.
func plain(eight uint64) bool {
	const ones = 0x0101010101010101
	// A byte that is less than what is taken from it borrows, and that sets its high bit.
	low, quote, escape := eight-ones*' ', eight^ones*'"'-ones, eight^ones*'\\'-ones
	return (low|quote|escape)&^eight&highBits == 0
}

func (s *scan) escape() bool {
	switch s.next() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	case 'u':
		for range 4 {
			switch c := s.next(); {
			case '0' <= c && c <= '9', 'a' <= c && c <= 'f', 'A' <= c && c <= 'F':
			default:
				return false
			}
		}
		return true
	}
	return false
}

func (s *scan) number() bool {
	if s.peek() == '-' {
		s.at++
	}
	if s.peek() == '0' {
		s.at++
	} else if !s.digits() {
		return false
	}
	if s.peek() == '.' {
		if s.at++; !s.digits() {
			return false
		}
	}
	if s.peek()|0x20 == 'e' {
		s.at++
		if c := s.peek(); c == '+' || c == '-' {
			s.at++
		}
		return s.digits()
	}
	return true
}

func (s *scan) digits() bool {
	begin := s.at
	for s.at < len(s.in) && s.in[s.at] >= '0' && s.in[s.at] <= '9' {
		s.at++
	}
	return s.at > begin
}
