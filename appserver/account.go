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

// AuthToken returns the token of the login that codex sends to the model, as it is in its memory; "" if
// it has none.
func (c *Client) AuthToken(ctx context.Context) (string, error) {
	var status struct {
		Token string `json:"authToken"`
	}
	err := c.Call(ctx, "getAuthStatus", authParams{IncludeToken: true}, &status)
	return status.Token, err
}

type authParams struct {
	IncludeToken bool `json:"includeToken"`
	RefreshToken bool `json:"refreshToken"`
}

// RateLimitsRead returns what is used of the allowance of a ChatGPT login. Codex asks
// the network; with any other credential it refuses.
func (c *Client) RateLimitsRead(ctx context.Context) (LimitsNote, error) {
	var note LimitsNote
	err := c.Call(ctx, "account/rateLimits/read", nil, &note)
	return note, err
}

type accountParams struct {
	RefreshToken bool `json:"refreshToken"`
}

// LoginDeviceCode begins a login that a person ends in a browser, elsewhere. A
// login that was begun before is given up. [NoteAccountLoginComplete] tells of
// the end of either, codex gives up after 15 minutes.
func (c *Client) LoginDeviceCode(ctx context.Context) (DeviceCode, error) {
	var code DeviceCode
	err := c.Call(ctx, "account/login/start", loginParams{Type: "chatgptDeviceCode"}, &code)
	return code, err
}

type loginParams struct {
	Type string `json:"type"`
}

// A DeviceCode is what a person needs to log codex in.
type DeviceCode struct {
	LoginID         string `json:"loginId"`
	VerificationURL string `json:"verificationUrl"`
	UserCode        string `json:"userCode"`
}

// LoginCancel gives a login up that was begun. One that is over is no error.
func (c *Client) LoginCancel(ctx context.Context, loginID string) error {
	return c.Call(ctx, "account/login/cancel", cancelLoginParams{LoginID: loginID}, nil)
}

type cancelLoginParams struct {
	LoginID string `json:"loginId"`
}
