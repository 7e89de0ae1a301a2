package adapter

import (
	"errors"
	"fmt"

	"github.com/BurntSushi/toml"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// What is read of a configuration. It is a file of codex's user, whose commands may write it,
// and the decoder takes the square of how deep a text goes: a minute and 10 GB for 64 KiB
// (seen on 1.6.0). codex's own goes no deeper than 80 (seen on 0.169.0).
const (
	mostTOMLDepth = 32     // tables, arrays and the parts of keys in one another
	mostTOMLMarks = 50_000 // dots, brackets and keys; each may be a table
)

// readTOML decodes a configuration.
func readTOML(text string) (config map[string]any, err error) {
	if depth, marks := measureTOML(text); depth > mostTOMLDepth || marks > mostTOMLMarks {
		return nil, fmt.Errorf("it goes deeper than %d tables, or has more than %d keys and brackets", mostTOMLDepth, mostTOMLMarks)
	}
	if _, err := toml.Decode(text, &config); err != nil {
		return nil, errors.New(brief.Line(err.Error(), 300))
	}
	return config, nil
}

// measureTOML says how deep a text goes at most, in a header or in a value with its key, and
// how many signs it has that could make tables, outside of strings and comments. It stops
// where that is too much.
func measureTOML(text string) (deepest, marks int) {
	var open []int // for each bracket that is open: how deep what stands before it goes
	depth, parts := 0, 0
	for at := 0; at < len(text); at++ {
		switch c := text[at]; c {
		case '#':
			at = endOfLine(text, at) - 1
		case '"', '\'':
			at = endOfString(text, at) - 1
		case '.':
			parts++
			marks++
		case '=':
			marks++
		case '[', '{':
			open = append(open, parts+1)
			depth, parts = depth+parts+1, 0
			marks++
		case ']', '}':
			if last := len(open) - 1; last >= 0 {
				depth, open = depth-open[last], open[:last]
			}
			parts = 0
		case ',', '\n':
			parts = 0
		}
		deepest = max(deepest, depth+parts)
		if deepest > mostTOMLDepth || marks > mostTOMLMarks {
			break
		}
	}
	return deepest, marks
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
