package executor

import "fmt"

// contextShare is the part of [Config.MaxBytes] that one context may have: the others
// always have room for theirs.
const contextShare = 4

// peersShare is what other agents may have together of most, in jobs or in bytes: the rest is
// the user's.
func peersShare(most int64) int64 { return most - most/4 }

// A budget counts the bytes of the jobs that have not ended, those included whose turns
// run: what a job was made of is kept until its end. It is guarded by Executor.mu.
type budget struct {
	most  int64 // that all jobs may take
	all   int64
	of    map[string]int64 // by context, of those that have any
	peers struct{ most, jobs, bytes int64 }
}

// newBudget returns one of that many bytes. Jobs is how many may wait, of which other agents
// have their share.
func newBudget(most int64, jobs int) budget {
	b := budget{most: most, of: map[string]int64{}}
	b.peers.most = peersShare(int64(jobs))
	return b
}

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
	case j.Peer && b.peers.jobs >= b.peers.most:
		return fmt.Errorf("%w: %d of other agents have not ended, which is the most there may be of theirs", ErrQueueFull, b.peers.jobs)
	case j.Peer && b.peers.bytes > 0 && b.peers.bytes+size > peersShare(b.most):
		return fmt.Errorf("%w: this one takes %s beside %s of other agents, and they may take %s (three quarters of RUNTIME_MAX_QUEUE_MIB)",
			ErrQueueFull, mib(size), mib(b.peers.bytes), mib(peersShare(b.most)))
	}
	return nil
}

// add counts a job.
func (b *budget) add(j *Job) { b.change(j, 1) }

// remove counts a job no more.
func (b *budget) remove(j *Job) { b.change(j, -1) }

func (b *budget) change(j *Job, by int64) {
	bytes := by * int64(j.Size)
	b.all += bytes
	if b.of[j.Context] += bytes; b.of[j.Context] == 0 {
		delete(b.of, j.Context)
	}
	if j.Peer {
		b.peers.jobs += by
		b.peers.bytes += bytes
	}
}

func mib(bytes int64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }
