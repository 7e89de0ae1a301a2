package toolset

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// delegateAsync is delegate_task_async.
func (s *Set) delegateAsync(ctx context.Context, a delegation) (string, error) {
	peer, err := s.receiver(ctx, a)
	if err != nil {
		return "", err
	}
	taken, err := s.delegate(ctx, peer, a.Task)
	if err != nil {
		return "", err
	}
	answer := map[string]any{
		"delegation_id": taken.ID, "workspace_id": peer.ID, "status": "delegated",
		"note": "The peer works on it. check_task_status with this delegation_id as task_id tells how it stands.",
	}
	if taken.Repeat {
		answer["note"] = "The peer has had this task already: it is the same delegation. check_task_status tells how it stands."
	}
	if taken.Warning != "" {
		answer["warning"] = oneLine(taken.Warning)
	}
	return brief.Pretty(answer)
}

type status struct {
	Workspace string `json:"workspace_id,omitempty" jsonschema:"the id of the peer; it is not looked at"`
	Task      string `json:"task_id" jsonschema:"the delegation_id; empty lists the newest delegations"`
	own
}

// checkStatus is check_task_status.
func (s *Set) checkStatus(ctx context.Context, a status) (string, error) {
	if err := s.ours(a.Source); err != nil {
		return "", err
	}
	rows, err := s.cfg.Platform.Delegations(ctx)
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(a.Task)
	if id == "" {
		all := make([]map[string]any, 0, mostListed)
		for _, row := range rows[:min(len(rows), mostListed)] {
			all = append(all, shown(row, mostInList))
		}
		return brief.Pretty(map[string]any{"delegations": all, "count": len(all)})
	}
	if row, ok := rowOf(rows, id); ok {
		return brief.Pretty(shown(row, mostQuoted))
	}
	return brief.Pretty(map[string]any{"status": "not_found", "delegation_id": id})
}

// rowOf finds the row of a delegation that says most: its result, before the note that
// it was given.
func rowOf(rows []platform.Delegation, id string) (found platform.Delegation, ok bool) {
	for _, row := range rows {
		if row.DelegationID != id && row.ID != id {
			continue
		}
		if row.Result() != "" || row.Error != "" {
			return row, true
		}
		if !ok {
			found, ok = row, true
		}
	}
	return found, ok
}

// shown is a row for a model to read, with so many bytes of the result. The platform puts
// the peer's words into summary and error, too.
func shown(row platform.Delegation, most int) map[string]any {
	out := map[string]any{"delegation_id": cmp.Or(row.DelegationID, row.ID), "status": row.Status, "target_id": row.Target}
	if row.Summary != "" {
		out["summary"] = wrapLine(row.Summary)
	}
	if !row.CreatedAt.IsZero() {
		out["created_at"] = row.CreatedAt.UTC().Format(time.RFC3339)
	}
	if row.Error != "" {
		out["error"] = wrapLine(row.Error)
	}
	result := row.Result()
	switch {
	case platform.PolledText(result):
		out["status"], out["note"] = "queued", "The peer fetches its messages itself, and this one is in its inbox. Its answer comes as a message of its own, and not here."
	case platform.QueuedText(result):
		out["status"], out["note"] = "queued", "The peer has not got to it yet: what the platform has is no reply."
	case result != "":
		out["response_preview"] = wrapped(result, most)
	}
	return out
}

// A stand is how a delegation stands.
type stand struct {
	done, waits    bool
	polls          bool // it waits in the inbox of a peer that asks for its messages
	result, failed string
	row            string // the id of that which says so
}

// standing reads it off the rows. The row of a failure may lack the delegation's id: it
// is that of the same peer, later than the giving, by the platform's own clock.
func standing(rows []platform.Delegation, id, target string) stand {
	given, known := rowOf(rows, id)
	for _, row := range rows {
		nameless := known && row.DelegationID == "" && row.ID != id && row.Target == target && row.CreatedAt.After(given.CreatedAt)
		if row.Status == "failed" && (row.DelegationID == id || nameless) {
			return stand{failed: cmp.Or(row.Error, "the platform says that it has failed"), row: row.ID}
		}
	}
	result := given.Result()
	switch {
	case !known || given.Status != "completed":
		return stand{}
	case platform.QueuedText(result):
		return stand{waits: true, polls: platform.PolledText(result)}
	case strings.HasPrefix(result, agentError):
		return stand{failed: result, row: given.ID}
	}
	return stand{done: true, result: cmp.Or(result, "(no response)"), row: given.ID}
}
