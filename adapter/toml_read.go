package adapter

import (
	"errors"
	"fmt"

	"github.com/BurntSushi/toml"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// What is read of a configuration. It is a file of codex's user, whose commands may write it,
// and the decoder takes the square of how deep a text goes: a minute and 10 GB for 64 KiB; and for
// each key it keeps the whole name, with those of the tables around it: 24 GB for 1 MiB (both seen
// on 1.6.0). codex's own goes no deeper than 80 (seen on 0.169.0).
const (
	mostTOMLDepth = 32      // tables, arrays and the parts of keys in one another
	mostTOMLMarks = 50_000  // dots, brackets and keys; each may be a table
	mostTOMLNames = 8 << 20 // bytes of the whole names of all keys
)

// readTOML decodes a configuration.
func readTOML(text string) (config map[string]any, err error) {
	if m := measureTOML(text); m.tooMuch() {
		return nil, fmt.Errorf("it goes deeper than %d tables, has more than %d keys and brackets, or their names more than %d MiB with those of their tables",
			mostTOMLDepth, mostTOMLMarks, mostTOMLNames>>20)
	}
	if _, err := toml.Decode(text, &config); err != nil {
		return nil, errors.New(brief.Line(err.Error(), 300))
	}
	return config, nil
}

// A tomlMeasure is what a text may come to, outside of strings and comments.
type tomlMeasure struct {
	deepest int // in a header, or in a value with its key
	marks   int // signs that could make tables
	names   int // bytes of the whole names of keys, of which each part may be one
}

func (m tomlMeasure) tooMuch() bool {
	return m.deepest > mostTOMLDepth || m.marks > mostTOMLMarks || m.names > mostTOMLNames
}

// A tomlPlace is where in a text something stands.
type tomlPlace struct {
	depth int // how many tables and arrays it is in
	name  int // bytes of the whole name of what it is in
}

// A tomlScan is how far a text has been measured.
type tomlScan struct {
	tomlMeasure
	tomlPlace
	open   []tomlPlace // for each bracket that is open: where it stands
	parts  int         // of the key that comes
	key    int         // where that begins
	named  int         // bytes of the whole name of the last one
	given  bool        // a key has come and not the whole of its value
	header bool        // the line is that of a table
}

// measureTOML says what a text may come to. It stops where that is too much.
func measureTOML(text string) tomlMeasure {
	var s tomlScan
	for at := 0; at < len(text) && !s.tooMuch(); at++ {
		switch c := text[at]; c {
		case '#':
			at = endOfLine(text, at) - 1
		case '"', '\'':
			at = endOfString(text, at) - 1
		case '.', '=':
			s.takeKey(at, c == '=')
		case '[', '{':
			s.enter(at)
		case ']', '}':
			s.leave()
		case ',':
			s.parts, s.key, s.given = 0, at+1, false
		case '\n':
			s.newLine(at)
		}
		s.deepest = max(s.deepest, s.depth+s.parts)
	}
	s.newLine(len(text))
	return s.tomlMeasure
}

// takeKey takes a key, or a part of one; or a dot of a value.
func (s *tomlScan) takeKey(at int, ends bool) {
	s.marks++
	if !ends {
		s.parts++
	}
	if s.given {
		return
	}
	s.named = s.name + at - s.key
	s.names += s.named
	s.given = ends
}

func (s *tomlScan) enter(at int) {
	s.marks++
	s.open = append(s.open, s.tomlPlace)
	s.depth += s.parts + 1
	switch {
	case s.given:
		s.name = s.named
	case len(s.open) == 1:
		s.header, s.name = true, 0
	}
	s.parts, s.key, s.given = 0, at+1, false
}

func (s *tomlScan) leave() {
	if last := len(s.open) - 1; last >= 0 {
		s.tomlPlace, s.open = s.open[last], s.open[:last]
	}
	s.parts = 0
}

func (s *tomlScan) newLine(at int) {
	s.parts = 0
	if len(s.open) > 0 {
		return
	}
	if s.header {
		s.name = at - s.key
		s.names += s.name
	}
	s.key, s.given, s.header = at+1, false, false
}

func endOfLine(text string, at int) int {
	for at < len(text) && text[at] != '\n' {
		at++
	}
	return at
}

// endOfString returns the end of the string that begins there. One that is left open ends
// where the decoder gives up, too: with its line, or with the text if it may have several.
func endOfString(text string, at int) int {
	quote := text[at]
	several := at+2 < len(text) && text[at+1] == quote && text[at+2] == quote
	at++
	if several {
		at += 2
	}
	for ; at < len(text); at++ {
		switch c := text[at]; {
		case c == '\\' && quote == '"':
			at++
		case c == '\n' && !several:
			return at
		case c == quote && !several:
			return at + 1
		case c == quote && at+2 < len(text) && text[at+1] == quote && text[at+2] == quote:
			at += 3
			for range 2 { // two more may belong to the string
				if at < len(text) && text[at] == quote {
					at++
				}
			}
			return at
		}
	}
	return len(text)
}
