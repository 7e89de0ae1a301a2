package push

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// Kind is that of our deliveries in the outbox.
const Kind = "push"

// A Notification is what is posted.
type Notification struct {
	ID      string // the same whenever it is posted; has no space or line break in it
	Version string // of the payload
	Payload []byte
}

// Delivery returns the notification as a row of the outbox. Its target is to be the id of
// the setting.
func (n Notification) Delivery() store.Delivery {
	body := fmt.Appendf(make([]byte, 0, len(n.Version)+len(n.ID)+2+len(n.Payload)), "%s %s\n", n.Version, n.ID)
	return store.Delivery{Kind: Kind, Body: append(body, n.Payload...)}
}

// read returns the notification of a row of the outbox.
func read(d store.Delivery) (Notification, error) {
	head, payload, ok := bytes.Cut(d.Body, []byte("\n"))
	version, id, hasID := strings.Cut(string(head), " ")
	if !ok || !hasID {
		return Notification{}, fmt.Errorf("delivery %d is no push notification", d.ID)
	}
	return Notification{ID: id, Version: version, Payload: payload}, nil
}
