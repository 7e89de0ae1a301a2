package logging

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// TestATerminalIsOnlyWrittenTo: words of callers and of servers, wherever they stand in a
// line, do nothing to the terminal that shows them, and what they are can be read.
func TestATerminalIsOnlyWrittenTo(t *testing.T) {
	const acts = `typed \x1b[2J ` + "c\x1b]0;PWN\x07\x1b[2J\u009b31m\u202etxt\rover"
	var b bytes.Buffer
	log := slog.New(Wrap(sink(&b, slog.LevelDebug, true), NewRedactor()))
	log.Info("m "+acts, "text", acts)
	log.Info("m", "err", fmt.Errorf("get it: %w", errors.New(acts)))
	log.Info("m", slog.Group("g"+acts, slog.String("in", acts), slog.Any("any", stringer{acts})))
	log.With("with", acts).WithGroup("group"+acts).Info("m", "list", []string{acts}, "struct", struct{ A string }{acts}, acts, 1)
	out := b.String()
	for _, colour := range []string{"\x1b[0m", "\x1b[2m", "\x1b[22m", "\x1b[92m", "\x1b[91m", "\x1b[2;91m", "\x1b[22;91m"} { // tint's own
		out = strings.ReplaceAll(out, colour, "")
	}
	for _, bad := range []string{"\x1b", "\x07", "\u009b", "\u202e", "\r"} {
		if i := strings.Index(out, bad); i >= 0 {
			t.Errorf("%q is in the log: %q", bad, out[max(0, i-60):min(len(out), i+20)])
		}
	}
	if n := strings.Count(out, `PWN`); n < 10 || !strings.Contains(out, `u001b`) {
		t.Errorf("%d times in %q", n, out)
	}
}
