package executor

// A host is what the driver needs of the scheduler that it works for.
type host interface {
	// news says that something has changed of what turns may be paused for.
	news()
	// isPaused reports whether no turn is started, because the model would refuse it.
	isPaused() bool
	// refused pauses all turns because of a refusal that came outside of them.
	refused(r *refusal)
	// settle has what is to be done while no turn is begun be done, if none is.
	settle()
	// isIdle reports whether no turn is begun.
	isIdle() bool
	// whoWaits reports whether a message of the user's waits for a turn, and whether there are
	// messages of other agents.
	whoWaits() (user, peers bool)
	// admitMute reports whether a question may wait for its answer, as far as that is a matter
	// of who has sent the message. If it may, leave is to be called when it waits no more.
	admitMute(in *inquiry) (leave func(), ok bool)
	// muteNotice is what is said of a number of questions that were not admitted.
	muteNotice(n int) string
}

// news implements [host], as do the methods below.
func (e *Executor) news() { e.hold.news() }

func (e *Executor) isPaused() bool { return e.hold.look().cause != nil }

func (e *Executor) muteNotice(n int) string { return e.mutes.notice(n) }

func (e *Executor) settle() { e.slots.settle() }

func (e *Executor) isIdle() bool { return e.slots.isIdle() }
