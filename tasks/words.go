package tasks

import (
	"slices"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/origin"
)

// A lapse is what is known of words that may be meant for something else than what a task asks.
type lapse struct {
	Lapsed  bool            `json:"lapsed,omitempty"`
	PosedTo []origin.Sender `json:"posedTo,omitempty"` // who have been posed since then what is asked
	Since   time.Time       `json:"since,omitzero"`    // they have; what was written before is for something else

	from, until time.Time // it holds between these; zero if it does from the beginning, or does not pass by itself
}

// holds reports whether a message may be meant for something else.
func (l *lapse) holds(in *incoming) bool {
	over := !l.until.IsZero() && in.written.After(l.until)
	return l.Lapsed && !over && !in.written.Before(l.from) && (!slices.Contains(l.PosedTo, in.from) || in.written.Before(l.Since))
}

// fresh reports whether nobody has been posed since what is asked.
func (l *lapse) fresh() bool { return l.Lapsed && len(l.PosedTo) == 0 }

// words is what is known of words that answer what a task asks: three lapses, and what they go by.
type words struct {
	gone     lapse // a question has gone without an answer, or the user was told something beside
	unseen   lapse // what is asked has not reached who may answer
	crossing lapse // its sender was told something before it was asked, and words may be on their way

	said      time.Time       // the turn has begun to say something, and nothing has been asked since; zero if it has not
	heardElse bool            // the user was told something beside, and nothing has been asked since
	putOff    []origin.Sender // whose answer was, and who have not got yet what was posed again
	sending   string          // the message that asks, while it is on its way to the user by others and nothing was told since
	sent      time.Time       // that was
}

// hold reports whether a message may be meant for something else.
func (w *words) hold(in *incoming) bool {
	return w.gone.holds(in) || w.unseen.holds(in) || w.crossing.holds(in)
}

// crossing is how long after a question words can be for what the user was told before it: they are
// on their way. By an inbox it is known to a second when they were written.
const crossing = 2 * time.Second

// reading is how long nobody has read what a turn says, and answered it: words that come sooner are for
// what is asked.
const reading = 1500 * time.Millisecond

func (l *lapse) begin() { *l = lapse{Lapsed: true} }

// cross begins one that passes, for words that are written from a time on, or from where one holds that
// has not passed, or that a question has which is still open: words may come late.
func (l *lapse) cross(from time.Time, more time.Duration, open bool) {
	if l.Lapsed && l.from.Before(from) && (open || time.Now().Before(l.until)) {
		from = l.from
	}
	*l = lapse{Lapsed: true, from: from, until: time.Now().Add(crossing + more)}
}

// posed notes that a sender has been posed what is asked.
func (l *lapse) posed(to origin.Sender, at time.Time) {
	if l.Lapsed {
		l.PosedTo, l.Since = with(slices.Clone(l.PosedTo), to), at
	}
}

func with(all []origin.Sender, one origin.Sender) []origin.Sender {
	if slices.Contains(all, one) {
		return all
	}
	return append(all, one)
}

// says notes that the turn has something shown that it says.
func (t *state) says() {
	if t.words.said.IsZero() {
		t.words.said = time.Now()
	}
}
