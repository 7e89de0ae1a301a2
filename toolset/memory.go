package toolset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

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
	return pretty(map[string]any{"success": true, "id": kept.ID, "scope": cmp.Or(kept.Scope, scope)})
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
)

// recallMemory is recall_memory. Memories of a team are other agents' words.
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
	for _, m := range found {
		lines = append(lines, fmt.Sprintf("[%s] %s", m.Scope, s.cfg.Redact(peerwords.Clean(m.Content))))
	}
	if more {
		lines = append(lines, moreMemories)
	}
	return strings.Join(lines, "\n"), nil
}
