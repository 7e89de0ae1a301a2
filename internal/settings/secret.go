package settings

import (
	"fmt"
	"log/slog"
)

const hidden = "***"

// A Secret is a value that no formatting, logging or encoding shows; the only
// way to it is [Secret.Reveal]. The zero Secret is not set.
//
// The value is behind a pointer because fmt prints the unexported fields of
// structs without asking their methods.
type Secret struct{ value *string }

// NewSecret returns a Secret that holds v; an empty v is not set.
func NewSecret(v string) Secret {
	if v == "" {
		return Secret{}
	}
	return Secret{&v}
}

// Set reports whether there is a value.
func (s Secret) Set() bool { return s.value != nil }

// Reveal returns the value, or "" if there is none.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// String says only whether there is a value.
func (s Secret) String() string {
	if !s.Set() {
		return ""
	}
	return hidden
}

// Format keeps every verb, %x and %#v too, from showing the value.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// LogValue implements [slog.LogValuer].
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText implements [encoding.TextMarshaler], and with it JSON.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
