package prompt

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/peerwords"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/whole"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// parts are what the platform has said last.
type parts struct {
	Instructions string `json:"instructions,omitempty"`
	Shared       []file `json:"shared,omitempty"`
	Peers        []peer `json:"peers,omitempty"`
}

// A file is one that the parent shares.
type file struct{ Path, Content string }

// A peer is what the instructions say of another workspace.
type peer struct {
	ID, Name, Role, Description string
	Skills                      []string
}

// askLocked asks the platform for its parts, and reports whether something is new. What it
// does not say stays as it was.
func (b *Builder) askLocked(ctx context.Context) (changed bool) {
	before := b.parts
	one(ctx, b, "the platform's instructions", b.cfg.Platform.Instructions, func(text string) {
		b.parts.Instructions = shortened(text, mostFile)
	})
	if b.cfg.Parent != "" {
		read := func(ctx context.Context) ([]platform.SharedFile, error) {
			return b.cfg.Platform.SharedContext(ctx, b.cfg.Parent)
		}
		one(ctx, b, "the parent's shared context", read, func(files []platform.SharedFile) { b.parts.Shared = sharedFiles(files) })
	}
	one(ctx, b, "the peers", b.cfg.Platform.Peers, func(all []platform.Peer) { b.parts.Peers = peersOf(all) })
	return !reflect.DeepEqual(before, b.parts)
}

// one asks for one part.
func one[T any](ctx context.Context, b *Builder, what string, read func(context.Context) (T, error), take func(T)) {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	answer, err := read(ctx)
	switch {
	case err == nil:
		b.well(what)
		take(answer)
	case errors.Is(err, platform.ErrUnsupported):
	case ctx.Err() == nil || errors.Is(ctx.Err(), context.DeadlineExceeded):
		b.once(what, "a part of the instructions could not be had; what is known of it stays", "part", what, "err", err)
	}
}

func sharedFiles(files []platform.SharedFile) []file {
	files = files[:min(len(files), mostFiles)]
	out := make([]file, 0, len(files))
	for _, f := range files {
		out = append(out, file{f.Path, shortened(f.Content, mostFile)})
	}
	return out
}

// peersOf takes those that can be reached: the others have no card. The order and
// what it says of them does not change by itself, for a change is told to every thread.
func peersOf(all []platform.Peer) []peer {
	var out []peer
	for _, p := range all {
		var card struct {
			Name, Description string
			Skills            skills
		}
		if json.Unmarshal(p.Card, &card) != nil || len(p.Card) == 0 || p.Card[0] != '{' {
			continue
		}
		one := peer{ID: word(p.ID, 64), Name: word(p.Name, 80), Role: word(p.Role, 120), Description: word(card.Description, 200)}
		if one.Name == "" {
			one.Name = word(card.Name, 80)
		}
		for _, s := range card.Skills {
			if name := word(cmp.Or(s.Name, s.ID), 60); name != "" {
				one.Skills = append(one.Skills, name)
			}
		}
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b peer) int { return strings.Compare(a.Name+"\x00"+a.ID, b.Name+"\x00"+b.ID) })
	return out[:min(len(out), mostFiles)]
}

// skills are the first of those on a card: the others would take memory, for nothing.
type skills []struct{ Name, ID string }

// UnmarshalJSON implements [json.Unmarshaler]. One of another type counts, and is shown as nothing:
// an error would hide all of the card.
func (s *skills) UnmarshalJSON(raw []byte) error {
	*s, _, _ = platform.First[struct{ Name, ID string }](raw, 16)
	return nil
}

// mostOfWord is how many bytes of a text are looked at for a word.
const mostOfWord = 4 << 10

// markup could end the place that a word has, in any of its forms: cleaning may make the
// usual ones of them.
const markup = "`\u1fef\uff40*\uff0a\ufe61<\uff1c\ufe64>\uff1e\ufe65"

// word is a text of somebody else's on one line, without what could end its place in
// ours, or pass for something else than another's.
func word(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if strings.ContainsRune(markup, r) {
			return -1
		}
		return r
	}, shortened(text, mostOfWord))
	text = strings.Join(strings.Fields(peerwords.Clean(text)), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// recall reads what the platform has said to an earlier process.
func (b *Builder) recall() (p parts) {
	if b.cfg.Cache == "" {
		return p
	}
	text, err := os.ReadFile(b.cfg.Cache)
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		b.log.Warn("what the platform said last could not be read and is asked for again", "err", err)
		return parts{}
	}
	return p
}

// keepLocked writes down what the platform has said.
func (b *Builder) keepLocked() {
	if b.cfg.Cache == "" {
		return
	}
	text, err := json.Marshal(b.parts)
	if err == nil {
		err = whole.Write(b.cfg.Cache, text, 0o600)
	}
	if err != nil {
		b.once("cache", "what the platform has said could not be written down; after a restart it is asked for again", "err", err)
	}
}
