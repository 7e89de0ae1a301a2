package terminal

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// fold is a line in rows of a width, of which there is at least one. All its blanks stay, and rows
// that go on with a line are indented as it is: what others have worded is told apart by that.
func fold(line string, width int) []string {
	line = untabbed(line)
	width = max(width, 1)
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	indent = indent[:min(len(indent), width/2)]
	var rows []string
	row, room := indent, width-len(indent)
	left := room
	for rest := line[len(indent):]; rest != ""; {
		var piece string
		piece, rest = nextPiece(rest)
		w := ansi.StringWidth(piece)
		if w > left && w <= room && piece[0] != ' ' {
			rows = append(rows, row)
			row, left = indent, room
		}
		for w > left { // longer than a row, or blanks at the end of one
			head := ansi.Truncate(piece, left, "")
			if head == "" && left == room { // a character that is wider than the terminal
				head = piece
			}
			rows = append(rows, row+head)
			piece = piece[len(head):]
			row, left, w = indent, room, ansi.StringWidth(piece)
		}
		row += piece
		left -= w
	}
	if len(rows) > 0 && row == indent {
		return rows
	}
	return append(rows, row)
}

// nextPiece is a word, or the blanks between two.
func nextPiece(text string) (piece, rest string) {
	end := strings.IndexByte(text, ' ')
	if end == 0 {
		end = len(text) - len(strings.TrimLeft(text, " "))
	}
	if end < 0 {
		end = len(text)
	}
	return text[:end], text[end:]
}

func untabbed(text string) string { return strings.ReplaceAll(text, "\t", "    ") }
