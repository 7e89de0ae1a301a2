package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// Commit has what has changed in a place be committed, and returns a bundle of it, and what that has come to. The bundle is
// nil if nothing is new; else the caller closes it.
func (c *Client) Commit(ctx context.Context, place string, what wire.Commit) (bundle io.ReadCloser, done wire.Committed, err error) {
	text, err := json.Marshal(what)
	if err != nil {
		return nil, done, fmt.Errorf("what is asked of a machine: %w", err)
	}
	got, err := c.send(ctx, http.MethodPost, of(place)+"/commit", bytes.NewReader(text))
	if err != nil {
		return nil, done, err
	}
	done.Head = got.Header.Get(wire.HeaderHead)
	done.Left, err = wire.ParseLeft(got.Header.Get(wire.HeaderLeft))
	if err != nil || got.StatusCode == http.StatusNoContent {
		return nil, done, errors.Join(err, got.Body.Close())
	}
	return got.Body, done, nil
}
