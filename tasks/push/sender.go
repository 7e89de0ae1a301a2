package push

// A Sender is who has the tasks made that notifications speak of. Senders share the places
// in which posts run, and the room for what waits.
type Sender struct {
	Name string // the same for all that the sender sends
	Peer bool   // another agent: it gives itself its name, and can have many
}
