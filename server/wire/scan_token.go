package wire

import "unicode/utf8"

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
	begin, ascii := s.at, true
	for s.at < len(s.in) {
		switch c := s.in[s.at]; {
		case c == '"':
			text := s.in[begin:s.at]
			s.at++
			s.notUTF8 = !ascii && !utf8.Valid(text)
			return text, !s.notUTF8
		case c < ' ':
			return nil, false
		case c == '\\':
			if s.at++; !s.escape() {
				return nil, false
			}
		default:
			ascii = ascii && c < utf8.RuneSelf
			s.at++
		}
	}
	return nil, false
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
