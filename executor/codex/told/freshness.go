package told

// A Freshness says why a turn runs on a thread without the conversation's earlier
// history; empty if it has it.
type Freshness string

// Why a thread is without its earlier history.
const (
	HistoryLost Freshness = "lost"  // the thread could not be resumed
	OtherTools  Freshness = "tools" // the thread has other tools than are offered now
)

// ToModel is what the model is told.
func (f Freshness) ToModel() string {
	why := "The earlier history of this conversation could not be loaded and is lost. "
	if f == OtherTools {
		why = "The tools that you can call have changed, so this conversation goes on in a new thread, without its earlier history. "
	}
	return why + "If the user refers to something you do not know, say so and ask."
}

// ToSender is what the sender of the message reads.
func (f Freshness) ToSender() string {
	if f == OtherTools {
		return "The tools of codex have changed; it starts afresh, without the earlier history of this conversation."
	}
	return "The earlier history of this conversation was lost; codex starts afresh."
}
