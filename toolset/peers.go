package toolset

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

const noPeers = "No peers available (this workspace may be isolated)"

func (s *Set) listPeers(ctx context.Context, a own) (string, error) {
	if err := s.ours(a.Source); err != nil {
		return "", err
	}
	peers, err := s.cfg.Platform.Peers(ctx)
	if err != nil {
		return "", err
	}
	if len(peers) == 0 {
		return noPeers, nil
	}
	lines := make([]string, 0, len(peers))
	for _, p := range peers {
		lines = append(lines, fmt.Sprintf("- %s (ID: %s, status: %s, role: %s)", named(p.Name), p.ID, named(p.Status), named(p.Role)))
	}
	return strings.Join(lines, "\n"), nil
}

// peer finds a peer by its id, or by a name that only one has. One that cannot be
// found is taken by its word: the platform knows better. What has the form of an id is no
// name: peers choose what they are called, and one could call itself by another's id. The
// call's own time is for what it is about.
func (s *Set) peer(ctx context.Context, id string) platform.Peer {
	ctx, cancel := context.WithTimeout(ctx, lookUp)
	defer cancel()
	peers, err := s.cfg.Platform.Peers(ctx)
	if err != nil {
		s.cfg.Logger.Debug("the peers could not be listed", "err", err)
	}
	isID := uuid.Validate(id) == nil
	var found []platform.Peer
	for _, p := range peers {
		if strings.EqualFold(p.ID, id) {
			return p
		}
		if !isID && strings.EqualFold(p.Name, id) {
			found = append(found, p)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return platform.Peer{ID: id}
}

// Name is what a workspace is called where others than the model read it.
func (s *Set) Name(ctx context.Context, id string) string {
	return s.cfg.Redact(nameOf(s.peer(ctx, id)))
}

// Excerpt is how a text of a peer begins, on a line that may stand elsewhere.
func (s *Set) Excerpt(text string) string {
	return oneLine(brief.Cleared(text, mostNoted, s.cfg.Redact))
}

func (s *Set) workspaceInfo(ctx context.Context, a own) (string, error) {
	if err := s.ours(a.Source); err != nil {
		return "", err
	}
	info, err := s.cfg.Platform.Workspace(ctx)
	if err != nil {
		return "", err
	}
	var all any
	if err := json.Unmarshal(info.Raw, &all); err != nil {
		return "", err
	}
	text, err := brief.Pretty(all)
	return s.cfg.Redact(text), err
}

func (s *Set) identity(context.Context, struct{}) (string, error) {
	text, err := brief.Pretty(s.cfg.Identity)
	return s.cfg.Redact(text), err
}
