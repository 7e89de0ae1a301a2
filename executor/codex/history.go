package codex

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
)

// fewTurns is how many of the newest turns are looked at first. A cut attempt is
// the newest, or what was begun behind it has nothing to do with it.
const fewTurns, manyTurns = 5, 100

// listTurns reads the newest turns of the thread of c.
func (d *Driver) listTurns(ctx context.Context, c *conversation, on *child.Child, limit int) ([]appserver.Turn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.cfg.Patience)
	defer cancel()
	return on.TurnsList(ctx, c.threadID, limit, true)
}

// findMessage returns the turn that holds the user message with a client id.
func findMessage(turns []appserver.Turn, clientID string) *appserver.Turn {
	for i := range turns {
		for _, item := range turns[i].Items {
			if item.Type == appserver.ItemUserMessage && item.ClientID == clientID {
				return &turns[i]
			}
		}
	}
	return nil
}

// addedTo reports whether a message was added to a turn that has completed, and had begun with another one.
func addedTo(turn *appserver.Turn, clientID string) bool {
	if turn == nil || turn.Status != appserver.TurnCompleted {
		return false
	}
	first := slices.IndexFunc(turn.Items, func(item appserver.Item) bool { return item.Type == appserver.ItemUserMessage })
	return first >= 0 && turn.Items[first].ClientID != clientID
}

// endsWith reports whether a turn that has completed ends with an attempt at a job's message, which was added to it.
// Where there is another attempt, the file has said of this one that the model has not read it.
func endsWith(turn appserver.Turn, job string) bool {
	at := slices.IndexFunc(turn.Items, func(item appserver.Item) bool { return isAttempt(item.ClientID, job) })
	first := slices.IndexFunc(turn.Items, func(item appserver.Item) bool { return item.Type == appserver.ItemUserMessage })
	return turn.Status == appserver.TurnCompleted && at > first && !slices.ContainsFunc(turn.Items[at:], appserver.Item.IsModels)
}

// before reports whether attempts before the newest have become turns, and whether
// a tool has run in them.
func before(turns []appserver.Turn, of executor.Attempt) (repeated, worked bool) {
	for _, turn := range turns {
		earlier := slices.ContainsFunc(turn.Items, func(item appserver.Item) bool {
			return isAttempt(item.ClientID, of.Job) && item.ClientID != of.ClientID()
		}) && !endsWith(turn, of.Job)
		repeated = repeated || earlier
		worked = worked || earlier && slices.ContainsFunc(turn.Items, func(item appserver.Item) bool { return item.Type.IsTool() })
	}
	return repeated, worked
}

// isAttempt reports whether a client id is that of an attempt at a job.
func isAttempt(clientID, jobID string) bool {
	n, ours := strings.CutPrefix(clientID, jobID+".")
	_, err := strconv.Atoi(n)
	return ours && err == nil
}

// isOfSomeJob reports whether a client id has the form of an attempt's.
func isOfSomeJob(clientID string) bool {
	dot := strings.LastIndexByte(clientID, '.')
	return dot > 0 && isAttempt(clientID, clientID[:dot])
}
