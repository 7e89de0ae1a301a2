package tasks

import "strings"

// A countedText is the text of an artifact. Those of a task are counted together, so that
// each next one knows its room without a look at all of them.
type countedText struct {
	text strings.Builder
	of   *task
}

func (t *task) newText() *countedText { return &countedText{of: t} }

func (c *countedText) String() string { return c.text.String() }
func (c *countedText) Len() int       { return c.text.Len() }

func (c *countedText) WriteString(piece string) {
	c.text.WriteString(piece)
	c.of.countText(len(piece))
}

// Reset makes it empty. What was handed out of it stays as it is.
func (c *countedText) Reset() {
	c.of.countText(-c.text.Len())
	c.text.Reset()
}

// countText counts it among the texts of the task, and those of all tasks in memory. The caller
// holds t.mu.
func (t *task) countText(bytes int) {
	t.texts += bytes
	if t.counted {
		t.engine.texts.Add(int64(bytes))
	}
}

// countTexts has the texts of the task count among those of all from now on, or no more. The caller
// holds t.mu.
func (t *task) countTexts(on bool) {
	switch {
	case on && !t.counted:
		t.engine.texts.Add(int64(t.texts))
	case !on && t.counted:
		t.engine.texts.Add(-int64(t.texts))
	}
	t.counted = on
}
