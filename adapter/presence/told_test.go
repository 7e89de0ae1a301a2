package presence_test

import (
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/presence"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// TestWhyItIsWedgedIsRedacted: the reason may quote what the model's endpoint has said.
func TestWhyItIsWedgedIsRedacted(t *testing.T) {
	d := &double{}
	within(t, d, func(c *presence.Config) {
		c.Wedged = func() string { return "the key geheim is refused" }
		c.Redact = func(text string) string { return strings.ReplaceAll(text, "geheim", "***") }
	}, func(t *testing.T, b *bench) {
		after(time.Second)
		if got := d.last(t); got.SampleError != "the key *** is refused" {
			t.Errorf("told %q", got.SampleError)
		}
	})
}

// TestBeatBringsNoCardThatThePlatformHas: it would take back what was made of it there.
func TestBeatBringsNoCardThatThePlatformHas(t *testing.T) {
	d := &double{}
	within(t, d, nil, func(t *testing.T, b *bench) {
		after(31 * time.Second)
		if got := d.last(t); got.Card != nil {
			t.Errorf("a beat brings the card %v", got.Card)
		}
	})
}

// TestPausedIsWell: a paused workspace is not asked to register, so that is no fault.
func TestPausedIsWell(t *testing.T) {
	d := &double{
		register: func(int) error { return refuse(403) },
		state:    func(int) (platform.State, error) { return platform.State{Status: "paused", Paused: true}, nil },
	}
	within(t, d, nil, func(t *testing.T, b *bench) {
		after(2 * time.Minute)
		if ok, words := b.Ready(); !ok || words != "the workspace is paused" {
			t.Errorf("ready %t: %s", ok, words)
		}
	})
}
