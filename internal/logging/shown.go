package logging

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// A shown handler writes out what would make a terminal do anything but show it: what is
// logged has words of callers and of servers in it.
type shown struct{ slog.Handler }

func (s shown) Handle(ctx context.Context, r slog.Record) error {
	plain := slog.NewRecord(r.Time, r.Level, visible(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		plain.AddAttrs(showable(a))
		return true
	})
	return s.Handler.Handle(ctx, plain)
}

func (s shown) WithAttrs(attrs []slog.Attr) slog.Handler {
	plain := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		plain[i] = showable(a)
	}
	return shown{s.Handler.WithAttrs(plain)}
}

func (s shown) WithGroup(name string) slog.Handler { return shown{s.Handler.WithGroup(visible(name))} }

// visible writes an escape as \u001b, for tint makes one of the four characters \x1b where
// it quotes, also of those that a caller has typed.
func visible(text string) string { return strings.ReplaceAll(brief.Plain(text), `\x1b`, `\u001b`) }

func showable(a slog.Attr) slog.Attr {
	a.Key, a.Value = visible(a.Key), a.Value.Resolve()
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(visible(a.Value.String()))
	case slog.KindGroup:
		group := a.Value.Group()
		plain := make([]slog.Attr, len(group))
		for i, member := range group {
			plain[i] = showable(member)
		}
		a.Value = slog.GroupValue(plain...)
	case slog.KindAny:
		if text := fmt.Sprintf("%+v", a.Value.Any()); visible(text) != text {
			a.Value = slog.StringValue(visible(text))
		}
	default: // numbers, times, booleans
	}
	return a
}
