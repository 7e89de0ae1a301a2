package appserver

import "context"

// AccountRead returns the login that codex would use. With refresh, codex
// first renews its token; an error of the network then says nothing about the
// credential.
func (c *Client) AccountRead(ctx context.Context, refresh bool) (AccountStatus, error) {
	var status AccountStatus
	err := c.Call(ctx, "account/read", accountParams{RefreshToken: refresh}, &status)
	return status, err
}

type accountParams struct {
	RefreshToken bool `json:"refreshToken"`
}
