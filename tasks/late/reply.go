package late

import "encoding/json"

// Kind is that of the deliveries in the outbox.
const Kind = "reply"

// A Reply is what a delivery says.
type Reply struct {
	ID    string `json:"id,omitempty"` // of the message that it is
	Text  string `json:"text"`
	Files []File `json:"files,omitempty"`
}

// A File is one that goes with it.
type File struct {
	URI       string `json:"uri"`
	Name      string `json:"name"`
	MediaType string `json:"mediaType,omitempty"`
}

func decode(body []byte) (Reply, error) {
	var r Reply
	err := json.Unmarshal(body, &r)
	return r, err
}
