package wire

import (
	"cmp"
	"encoding/json"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// The bounds of a body. They hold before anything is made of it, because what is
// made of it is larger than it by far, and what is taken has to be said again in
// each answer that speaks of it.
const (
	// deepest is how many brackets may be open at once. It leaves metadata and
	// data about 35 levels. The Python SDK reads 46 of them, below a list of tasks.
	deepest    = 40
	mostValues = 200_000
	mostParts  = 1_000 // of a message
)

// What is decoded of a value takes, by what was seen of callers' data at each door: an
// element of a slice with room for more, a map, and its groups of up to eight members.
const (
	weightOfValue = 40
	weightOfMap   = 48
	weightOfGroup = 288
)

// A place is what stands at a value: it says whose the names in it are.
type place uint8

const (
	inCallers  place = iota // the caller's own: nothing is known of it
	inEnvelope              // a JSON-RPC request
	inRequest               // its params, or the body of HTTP+JSON
	inMessage               // the message of a request
	inParts                 // the parts of a message
	inOurs                  // anything else that the protocol has names for
)

// A scan reads a body for the first time: whether it is JSON in UTF-8, stays
// within the bounds, and names the members of the protocol as that does, each of
// them once. It makes nothing.
type scan struct {
	in      []byte
	at      int
	values  int
	weight  int // about how many bytes of memory is taken by what is decoded of it, beside the body
	notUTF8 bool
	members [rpcMembers]json.RawMessage // of the envelope
	fault   error                       // what is wrong first, though it is JSON
}

// scanBody scans the body of a request, of which at says what it is. If it is not
// JSON that is an error; what else is wrong with it is the fault of the scan.
func scanBody(body []byte, at place) (*scan, error) {
	s := &scan{in: body}
	s.space()
	ok := s.value(0, at)
	s.space()
	switch {
	case s.notUTF8:
		return s, a2a.NewError(a2a.ErrParseError, "the body is not UTF-8")
	case !ok || s.at < len(s.in):
		return s, a2a.NewError(a2a.ErrParseError, "the body is not well-formed JSON")
	}
	if s.values > mostValues {
		s.refuse(InvalidParams, "the body has %d values; at most %d are taken", s.values, mostValues)
	}
	return s, nil
}

// ScanREST scans the body of a request over HTTP+JSON, and returns about how many bytes of
// memory is taken by what is decoded of it, beside the body.
func ScanREST(body []byte) (weight int, err error) {
	s, err := scanBody(body, inRequest)
	return s.weight, cmp.Or(err, s.fault)
}

func (s *scan) refuse(as func(string, ...any) error, format string, args ...any) {
	if s.fault == nil {
		s.fault = as(format, args...)
	}
}

func (s *scan) value(depth int, at place) bool {
	s.values++
	s.weight += weightOfValue
	switch s.peek() {
	case '{', '[':
		return s.nested(depth+1, at)
	case '"':
		_, ok := s.text()
		return ok
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	}
	return s.number()
}

func (s *scan) nested(depth int, at place) bool {
	switch {
	case depth > deepest:
		s.refuse(InvalidParams, "the body is nested too deep; at most %d levels are taken", deepest)
		return s.skip()
	case s.in[s.at] == '{':
		return s.object(depth, at)
	}
	return s.array(depth, at)
}

func (s *scan) object(depth int, at place) bool {
	s.at++
	s.weight += weightOfMap
	if s.space(); s.peek() == '}' {
		s.at++
		return true
	}
	seen := uint64(0)
	for n := 0; ; n++ {
		if n%8 == 0 {
			s.weight += weightOfGroup
		}
		name, ok := s.text()
		if s.space(); !ok || s.next() != ':' {
			return false
		}
		s.space()
		member, known := s.member(at, name, &seen)
		begin := s.at
		if !s.value(depth, within(at, member, known)) {
			return false
		}
		if at == inEnvelope && known {
			s.members[member] = s.in[begin:s.at]
		}
		s.space()
		switch s.next() {
		case ',':
			s.space()
		case '}':
			return true
		default:
			return false
		}
	}
}

func (s *scan) array(depth int, at place) bool {
	s.at++
	if s.space(); s.peek() == ']' {
		s.at++
		return true
	}
	element := at
	if at == inParts {
		element = inOurs
	}
	for n := 1; ; n++ {
		if at == inParts && n > mostParts {
			s.refuse(InvalidParams, "the message has more than %d parts; put what belongs together into one", mostParts)
		}
		if !s.value(depth, element) {
			return false
		}
		s.space()
		switch s.next() {
		case ',':
			s.space()
		case ']':
			return true
		default:
			return false
		}
	}
}

// skip passes over what is refused in any case, without recursion. What is in it
// is not checked, but for its end and its strings.
func (s *scan) skip() bool {
	for open := 0; s.at < len(s.in); {
		switch s.in[s.at] {
		case '{', '[':
			open++
		case '}', ']':
			open--
		case '"':
			if _, ok := s.text(); !ok {
				return false
			}
			continue
		}
		if s.at++; open == 0 {
			return true
		}
	}
	return false
}
