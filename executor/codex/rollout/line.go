package rollout

import (
	"bufio"
	"errors"
)

// What is kept of a line. What is looked for are short strings; pictures and the output of
// commands are not, and may be any number of megabytes.
const (
	mostLine   = 8 << 20
	mostString = 256 // bytes of each string in it
)

// readLine returns a line with its long strings cut short, and of one that is too long all
// the same the beginning.
func readLine(lines *bufio.Reader) (line []byte, whole bool, err error) {
	var c cutter
	for whole = true; ; {
		piece, err := lines.ReadSlice('\n')
		if whole {
			line = c.cut(line, piece)
			whole = len(line) <= mostLine
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, whole, err
		}
	}
}

// A cutter leaves out the ends of the strings in a JSON text, which stays one.
type cutter struct {
	within bool // a string
	kept   int  // bytes of it, with the quote that begins it
	left   int  // bytes of an escape that are still to come
	begun  bool // the one before was its backslash
	drops  bool // the escape or byte: both are kept, or left out, as a whole
}

func (c *cutter) cut(to, piece []byte) []byte {
	for _, b := range piece {
		switch {
		case !c.within:
			*c = cutter{within: b == '"'}
		case c.left > 0:
			c.left--
			if c.begun && b == 'u' {
				c.left = 4
			}
			c.begun = false
		case b == '"':
			*c = cutter{}
		default:
			c.drops = c.kept > mostString
			if b == '\\' {
				c.left, c.begun = 1, true
			}
		}
		if !c.drops {
			to = append(to, b)
			c.kept++
		}
	}
	return to
}
