package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// Commit has what has changed in a place be committed, and returns a bundle of it, and the commit that the branch stands at
// then. The bundle is nil if nothing is new; else the caller closes it.
func (c *Client) Commit(ctx context.Context, place string, what wire.Commit) (bundle io.ReadCloser, head string, err error) {
	text, err := json.Marshal(what)
	if err != nil {
		return nil, "", fmt.Errorf("what is asked of a machine: %w", err)
	}
	got, err := c.send(ctx, http.MethodPost, of(place)+"/commit", bytes.NewReader(text))
	if err != nil {
		return nil, "", err
	}
	head = got.Header.Get(wire.HeaderHead)
	if got.StatusCode == http.StatusNoContent {
		return nil, head, got.Body.Close()
	}
	return got.Body, head, nil
}
