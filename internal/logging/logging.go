package logging

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/lmittmann/tint"
	"github.com/mattn/go-isatty"
)

// New returns a logger that writes records of at least level to w: coloured
// lines if w is a terminal, JSON otherwise.
func New(w io.Writer, level slog.Level, redact *Redactor) *slog.Logger {
	return slog.New(Wrap(sink(w, level, IsTerminal(w)), redact))
}

func sink(w io.Writer, level slog.Level, terminal bool) slog.Handler {
	if terminal {
		return shown{tint.NewTextHandler(w, &tint.Options{Level: level, TimeFormat: time.TimeOnly})}
	}
	return slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})
}

// IsTerminal reports whether w is a terminal, or a [Queue] in front of one.
func IsTerminal(w io.Writer) bool {
	if q, ok := w.(*Queue); ok {
		w = q.to
	}
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// Level returns the level of the given name: debug, info, warn or error.
func Level(name string) (slog.Level, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(name)); err != nil {
		return 0, fmt.Errorf("log level %q: %w", name, err)
	}
	return l, nil
}
