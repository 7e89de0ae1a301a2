package sources

import (
	"context"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/console"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// What is shown of the queue at most. Its numbers count everything.
const (
	mostQueues  = 100
	mostWaiting = 50 // in each
)

// queues are the conversations in which something runs or waits.
func queues(all []executor.Conversation) []console.Context {
	var out []console.Context
	for _, c := range all {
		if c.Running == "" && len(c.Waiting) == 0 || len(out) == mostQueues {
			continue
		}
		q := console.Context{ContextID: c.Context, Running: string(tasks.TaskOf(c.Running))}
		for _, job := range c.Waiting[:min(len(c.Waiting), mostWaiting)] {
			q.Waiting = append(q.Waiting, string(tasks.TaskOf(job)))
		}
		out = append(out, q)
	}
	return out
}

const (
	mostThreads    = 50
	threadsLookFor = time.Second // at the journal
	threadsEvery   = 10 * time.Second
)

// keptThreads are the threads that the journal knows, as they were a moment ago.
type keptThreads struct {
	journal *store.Store

	mu   sync.Mutex // guards the fields below
	at   time.Time
	last []store.UsedConversation
}

// with lists the conversations in use, and then those that the journal knows beside them.
func (k *keptThreads) with(ctx context.Context, live []executor.Conversation) []console.Thread {
	var all []console.Thread
	seen := map[string]bool{}
	for _, c := range live {
		seen[c.Context] = true
		if len(all) == mostThreads || c.Thread == "" {
			continue
		}
		t := console.Thread{ContextID: c.Context, ThreadID: c.Thread, Loaded: c.Loaded, LastUsed: c.LastUsed.UTC()}
		if u := c.Usage; u != nil {
			t.InputTokens, t.OutputTokens, t.TotalTokens = u.InputTokens, u.OutputTokens, u.TotalTokens
		}
		all = append(all, t)
	}
	for _, c := range k.look(ctx) {
		if len(all) < mostThreads && !seen[c.Key] {
			all = append(all, console.Thread{ContextID: c.Key, ThreadID: c.Thread, LastUsed: c.Used.UTC()})
		}
	}
	return all
}

func (k *keptThreads) look(ctx context.Context) []store.UsedConversation {
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Since(k.at) < threadsEvery {
		return k.last
	}
	ctx, cancel := context.WithTimeout(ctx, threadsLookFor)
	defer cancel()
	if found, err := k.journal.LatestConversations(ctx, mostThreads); err == nil { // else what was known is shown
		k.last = found
	}
	k.at = time.Now()
	return k.last
}
