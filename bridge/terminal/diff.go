package terminal

import (
	"fmt"
	"strings"
)

// mostDiff is how many lines of a diff are written.
const mostDiff = 400

// diffRows is a unified diff as it is written.
func diffRows(diff string, more string) []row {
	diff = strings.TrimSuffix(diff, "\n")
	if diff == "" {
		return nil
	}
	lines := strings.Split(diff, "\n")
	rows := make([]row, 0, min(len(lines), mostDiff)+1)
	for i, line := range lines {
		if strings.HasPrefix(line, "index ") {
			continue // which contents they are says nothing to people
		}
		if i == mostDiff {
			rows = append(rows, row{faint, fmt.Sprintf("%s and %d more lines of the diff", more, len(lines)-i)})
			break
		}
		rows = append(rows, row{lookOfDiff(line), line})
	}
	return rows
}

func lookOfDiff(line string) look {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "diff "):
		return strong
	case strings.HasPrefix(line, "@@"):
		return place
	case strings.HasPrefix(line, "+"):
		return added
	case strings.HasPrefix(line, "-"):
		return gone
	}
	return plain
}

// lookOfQuestion is that of a line of a question: what others have worded is indented there, and may
// be a diff.
func lookOfQuestion(line string) look {
	if inner := strings.TrimLeft(line, " "); inner != line {
		return lookOfDiff(inner)
	}
	return plain
}
