package logging

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
)

// A handler redacts records before the next handler sees them.
type handler struct {
	next   slog.Handler
	redact *Redactor
}

// Wrap returns a handler that passes records on to next without secrets.
func Wrap(next slog.Handler, redact *Redactor) slog.Handler { return handler{next, redact} }

func (h handler) Enabled(ctx context.Context, l slog.Level) bool { return h.next.Enabled(ctx, l) }

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, h.redact.String(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.attr(a))
		return true
	})
	return h.next.Handle(ctx, clean)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.next.WithAttrs(h.attrs(attrs)), h.redact}
}

func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.next.WithGroup(h.redact.String(name)), h.redact}
}

func (h handler) attrs(in []slog.Attr) []slog.Attr {
	out := make([]slog.Attr, len(in))
	for i, a := range in {
		out[i] = h.attr(a)
	}
	return out
}

func (h handler) attr(a slog.Attr) slog.Attr {
	return slog.Attr{Key: h.redact.String(a.Key), Value: h.value(a.Value.Resolve())}
}

func (h handler) value(v slog.Value) slog.Value {
	switch v.Kind() {
	case slog.KindString:
		return slog.StringValue(h.redact.String(v.String()))
	case slog.KindDuration: // of which JSON would make nanoseconds, and text what people read
		return slog.StringValue(v.Duration().String())
	case slog.KindGroup:
		return slog.GroupValue(h.attrs(v.Group())...)
	case slog.KindAny:
		return h.any(v)
	default: // numbers, times, booleans
		return v
	}
}

// any keeps a value that shows no secret in any form that a handler may give
// it, so that structure is not lost for nothing, and replaces others by text.
func (h handler) any(v slog.Value) slog.Value {
	switch x := v.Any().(type) {
	case nil, slog.Level, *slog.Source:
		return v
	case error:
		return h.text(x.Error, v)
	case fmt.Stringer:
		return h.text(x.String, v)
	case []byte:
		return slog.StringValue(h.redact.String(string(x)))
	}
	plain := fmt.Sprintf("%+v", v.Any())
	clean := h.redact.String(plain)
	encoded, err := json.Marshal(v.Any())
	if clean == plain && (err != nil || h.redact.String(string(encoded)) == string(encoded)) {
		return v
	}
	if clean == plain { // the secret shows in JSON only, as behind a pointer
		clean = h.redact.String(string(encoded))
	}
	return slog.StringValue(clean)
}

// text is what a method of a value says. A method that panics, as those of nil
// pointers do, leaves the value to the next handler, which knows about them.
func (h handler) text(method func() string, v slog.Value) (out slog.Value) {
	defer func() {
		if recover() != nil {
			out = v
		}
	}()
	return slog.StringValue(h.redact.String(method()))
}
