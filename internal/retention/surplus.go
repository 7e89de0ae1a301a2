package retention

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/rollout"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

const (
	// mostWeighed is how many conversations are weighed, those used last.
	mostWeighed = 100_000
	// freshFor is how long a conversation is kept after its last turn, unless it is another agent's.
	freshFor = time.Hour
	// weighAgain is how long after a weighing there is another, though no turn has begun since: one
	// that runs has its thread grow.
	weighAgain = 5 * time.Minute
	// peerShare is the part of the room that the conversations with other agents have.
	peerShare = 4
)

// A weighing is what was known when the files of threads were weighed last.
type weighing struct {
	at   time.Time
	used time.Time // when a conversation was used last, to the minute

	sessions map[string]string // the thread that another one works for, by its id
	before   map[string]string // the conversation's thread, by those that it comes behind
}

// know notes the threads of conversations, and those before them: theirs are the sessions.
func (w *weighing) know(all []store.UsedConversation, before map[string]string) {
	w.before = before
	if w.sessions == nil || len(w.sessions) > 2*mostWeighed {
		w.sessions = map[string]string{}
	}
	for _, c := range all {
		w.sessions[c.Thread] = c.Thread
	}
}

// session is the thread that a thread counts with. What it is does not change.
func (w *weighing) session(thread, path string) string {
	of, known := w.sessions[thread]
	if !known {
		if of = rollout.SessionOf(path); of != "" { // codex may be about to write it
			w.sessions[thread] = of
		}
	}
	return cmp.Or(w.before[of], of)
}

// makeRoom forgets the conversations that there is no room for.
func (h *Keeper) makeRoom(ctx context.Context, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, tidyTimeout)
	defer cancel()
	newest, err := h.store.LatestConversations(ctx, 1)
	if err != nil || len(newest) == 0 {
		return err
	}
	used := newest[0].Used
	if used.Equal(h.weighed.used) && now.Sub(used) > 2*surplusEvery && now.Sub(h.weighed.at) < weighAgain {
		return nil
	}
	all, err := h.store.LatestConversations(ctx, mostWeighed)
	if err != nil {
		return err
	}
	before, err := h.store.Before(ctx)
	if err != nil {
		return err
	}
	h.weighed.know(all, before)
	sizes, err := h.files.Sizes(h.weighed.session)
	if err != nil {
		return err
	}
	if due := h.surplus(all, sizes, now); len(due) > 0 {
		gone, err := h.forget(ctx, due)
		if gone > 0 {
			h.over = true
			h.log.Info("conversations were forgotten for which there was no room (RUNTIME_CONVERSATIONS_MIB)", "count", gone, "in_use", len(due)-gone)
		}
		if err != nil {
			return err
		}
	}
	h.weighed.at, h.weighed.used = now, used
	return nil
}

// surplus are the conversations that have to go for the others to have room: the oldest of other
// agents, as long as these have more than their share, and then the oldest.
func (h *Keeper) surplus(all []store.UsedConversation, sizes map[string]int64, now time.Time) (due []store.UsedConversation) {
	most := h.most()
	var total, peers int64
	for _, c := range all {
		total += sizes[c.Thread]
		if h.isPeers(c.Key) {
			peers += sizes[c.Thread]
		}
	}
	all = slices.Clone(all)
	slices.Reverse(all) // the longest unused first
	drop := func(goes func(c store.UsedConversation) bool) {
		all = slices.DeleteFunc(all, func(c store.UsedConversation) bool {
			if sizes[c.Thread] == 0 || !goes(c) {
				return false
			}
			total -= sizes[c.Thread]
			if h.isPeers(c.Key) {
				peers -= sizes[c.Thread]
			}
			due = append(due, c)
			return true
		})
	}
	drop(func(c store.UsedConversation) bool { return h.isPeers(c.Key) && peers > most/peerShare })
	drop(func(c store.UsedConversation) bool {
		return total > most && (h.isPeers(c.Key) || now.Sub(c.Used) > freshFor)
	})
	return due
}
