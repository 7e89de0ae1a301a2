package executor

import "slices"

// A Watcher hears of jobs beside the one who submits them. Watch is called before a job is handed over: to the turn of
// the job into, or for a turn of its own if that is empty. It returns the observer that is told in the place of next,
// which tells next all that it is told, and what is called if the job is refused; nil for nothing. A job that is
// refused by a turn may come again, for one of its own. Watch must not block.
type Watcher interface {
	Watch(job Job, into string, next Observer) (observe Observer, refused func(error))
}

// Watchers hear of jobs in their order: the first is told of an event, or of a refusal, before the second, and the
// last before the one who submits. Of what comes before the job is handed over, and of what an observer does when next
// has returned, the order is the reverse.
type Watchers []Watcher

// Watch implements [Watcher].
func (all Watchers) Watch(job Job, into string, next Observer) (observe Observer, refused func(error)) {
	var each []func(error)
	for _, w := range slices.Backward(all) {
		if next, refused = w.Watch(job, into, next); refused != nil {
			each = append(each, refused)
		}
	}
	return next, func(err error) {
		for _, refused := range slices.Backward(each) {
			refused(err)
		}
	}
}
