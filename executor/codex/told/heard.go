package told

// Heard is what the model of a thread knows of the instructions, by their digests.
// The conversation's turn lock guards it.
type Heard struct {
	Loaded string // those that the thread was loaded with, which a compaction goes back to
	Known  string // those that the model has heard last
	Kept   string // what the journal has of Known
	Told   bool   // the turn that runs has them with it
	Times  int    // that turns had some with them
}

// Compacted notes that what earlier turns had with them is gone from the thread, as after a
// compaction: it goes back to what it was loaded with. What the turn that runs has with it stands
// behind that, if codex has compacted before it.
func (h *Heard) Compacted() {
	if h.Known = h.Loaded; h.Told {
		h.Known = Unsure
	}
	h.Told = false
}

// Unsure is known of instructions where it is not sure which the model has: they are told in whole.
const Unsure = "?"

// NoInstructions is what a thread hears of instructions that are no more.
const NoInstructions = "The instructions for this workspace that you were given before no longer hold, and none have taken their place."
