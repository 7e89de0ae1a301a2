package executor

import "fmt"

// contextShare is the part of [Config.MaxBytes] that one context may have: the others
// always have room for theirs.
const contextShare = 4

// A budget counts the bytes of the jobs that have not ended, those included whose turns
// run: what a job was made of is kept until its end. It is guarded by Executor.mu.
type budget struct {
	most int64 // that all jobs may take
	all  int64
	of   map[string]int64 // by context, of those that have any
}

func newBudget(most int64) budget { return budget{most: most, of: map[string]int64{}} }

// refuses says why there is no room for a job. Where nothing else is, there always is:
// to send it again later would help nothing.
func (b *budget) refuses(j *Job) error {
	size, here, share := int64(j.Size), b.of[j.Context], b.most/contextShare
	switch {
	case here > 0 && here+size > share:
		return fmt.Errorf("%w: this one takes %s beside %s in this context, and they may take %s (a quarter of RUNTIME_MAX_QUEUE_MIB)",
			ErrQueueFull, mib(size), mib(here), mib(share))
	case b.all > 0 && b.all+size > b.most:
		return fmt.Errorf("%w: this one takes %s beside %s over all contexts, and they may take %s (RUNTIME_MAX_QUEUE_MIB)",
			ErrQueueFull, mib(size), mib(b.all), mib(b.most))
	}
	return nil
}

// add counts a job.
func (b *budget) add(j *Job) { b.change(j.Context, int64(j.Size)) }

// remove counts a job no more.
func (b *budget) remove(j *Job) { b.change(j.Context, -int64(j.Size)) }

func (b *budget) change(context string, by int64) {
	b.all += by
	if b.of[context] += by; b.of[context] == 0 {
		delete(b.of, context)
	}
}

func mib(bytes int64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }

// Refuses says why a job would not be accepted now, as [Executor.Submit] would: nil if it
// would be. It is for those who want to know before they keep the job's message.
func (e *Executor) Refuses(j Job) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.mayAccept(&j, e.conversations[j.Context])
}
