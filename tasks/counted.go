package tasks

import "strings"

// A countedText is the text of an artifact. Those of a task are counted together, so that
// each next one knows its room without a look at all of them.
type countedText struct {
	text strings.Builder
	all  *int // bytes of all texts of the task
}

func (t *task) newText() *countedText { return &countedText{all: &t.texts} }

func (c *countedText) String() string { return c.text.String() }
func (c *countedText) Len() int       { return c.text.Len() }

func (c *countedText) WriteString(piece string) {
	c.text.WriteString(piece)
	*c.all += len(piece)
}

// Reset makes it empty. What was handed out of it stays as it is.
func (c *countedText) Reset() {
	*c.all -= c.text.Len()
	c.text.Reset()
}
