package toolset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/peerwords"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

type commit struct {
	Content string `json:"content" jsonschema:"the text to keep; one that is understood without this conversation"`
	Scope   string `json:"scope,omitempty" jsonschema:"who can recall it; LOCAL if left out"`
	own
}

// commitMemory is commit_memory.
func (s *Set) commitMemory(ctx context.Context, a commit) (string, error) {
	if err := errors.Join(s.ours(a.Source), s.granted(actRemember)); err != nil {
		return "", err
	}
	if strings.TrimSpace(a.Content) == "" {
		return "", errors.New("content is required")
	}
	scope, err := scopeOf(cmp.Or(a.Scope, "LOCAL"))
	if err != nil {
		return "", err
	}
	kept, err := s.cfg.Platform.CommitMemory(ctx, platform.Memory{Content: s.cfg.Redact(a.Content), Scope: scope})
	if err != nil {
		return "", err
	}
	return brief.Pretty(map[string]any{"success": true, "id": kept.ID, "scope": cmp.Or(kept.Scope, scope)})
}

func scopeOf(scope string) (string, error) {
	scope = strings.ToUpper(strings.TrimSpace(scope))
	switch scope {
	case "", "LOCAL", "TEAM", "GLOBAL":
		return scope, nil
	}
	return "", errors.New("scope must be LOCAL, TEAM or GLOBAL")
}

type recall struct {
	Query string `json:"query,omitempty" jsonschema:"words to look for; empty returns the newest"`
	Scope string `json:"scope,omitempty" jsonschema:"where to look; everywhere if left out"`
	own
}

const (
	noMemories = "No memories found."
	// moreMemories is said where the platform has shown the newest of all scopes.
	moreMemories = "There may be older ones in this scope: give words to look for them."
	// longMemories is said where the last ones have no room.
	longMemories = "There are more of them: give words to look for what you need."

	// mostMemory is how many bytes of a memory a model gets, when its lines are indented.
	mostMemory = mostText / 4
)

// recallMemory is recall_memory.
func (s *Set) recallMemory(ctx context.Context, a recall) (string, error) {
	if err := errors.Join(s.ours(a.Source), s.granted(actRecall)); err != nil {
		return "", err
	}
	scope, err := scopeOf(a.Scope)
	if err != nil {
		return "", err
	}
	found, more, err := s.cfg.Platform.RecallMemory(ctx, platform.Recall{Query: a.Query, Scope: scope})
	if err != nil {
		return "", err
	}
	var lines []string
	if len(found) == 0 {
		lines = append(lines, noMemories)
	}
	room := mostWords
	for _, m := range found {
		entry := s.memory(m)
		if room -= len(entry) + 1; room < 0 {
			lines = append(lines, longMemories)
			break
		}
		lines = append(lines, entry)
	}
	if more {
		lines = append(lines, moreMemories)
	}
	return strings.Join(lines, "\n"), nil
}

// memory is one as a model reads it. What is not the workspace's alone may be another
// agent's words, and what stands on further lines must not pass for another memory.
func (s *Set) memory(m platform.Memory) string {
	text := s.cfg.Redact(m.Content)
	if strings.EqualFold(m.Scope, "LOCAL") {
		text = peerwords.Clean(clip(text, mostMemory))
	} else {
		text = wrapped(text, mostMemory)
	}
	return fmt.Sprintf("[%s] %s", m.Scope, strings.ReplaceAll(text, "\n", "\n  "))
}
