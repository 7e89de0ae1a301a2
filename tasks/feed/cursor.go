package feed

import "fmt"

// A Cursor is where an event stands among those of its task. Epochs are counted
// up whenever what was shown before may be shown anew: with each further attempt
// at a turn, and with each start of the program. Within one epoch there is no
// gap and no repetition.
type Cursor struct {
	Epoch int
	Seq   int64 // counted over all epochs
}

// String renders a cursor as the id of an event: "<epoch>.<seq>".
func (c Cursor) String() string { return fmt.Sprintf("%d.%d", c.Epoch, c.Seq) }

// ParseCursor reads what String has made.
func ParseCursor(id string) (c Cursor, ok bool) {
	n, err := fmt.Sscanf(id, "%d.%d", &c.Epoch, &c.Seq)
	return c, n == 2 && err == nil && c.Epoch > 0 && c.Seq >= 0 && c.String() == id
}
