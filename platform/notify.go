package platform

import (
	"context"
	"net/http"
)

// An Attachment is a file of the workspace that a message to the user names.
type Attachment struct {
	URI      string `json:"uri"` // workspace:/…
	Name     string `json:"name"`
	MimeType string `json:"mimeType,omitempty"`
	Size     int64  `json:"size,omitempty"` // bytes
}

// Notify says something to the user on the canvas. A message that is sent twice is
// shown twice, so it is not repeated once the platform may have it. 403 says that the
// workspace must not talk to its user.
func (c *Client) Notify(ctx context.Context, message string, attachments ...Attachment) error {
	body := struct {
		Message     string       `json:"message"`
		Attachments []Attachment `json:"attachments,omitempty"`
	}{message, attachments}
	return c.call(ctx, request{op: "notify the user", method: http.MethodPost, path: c.own("/notify"), body: body})
}
