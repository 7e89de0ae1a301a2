package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// ErrNoChannel says that no channel runs on a state directory.
var ErrNoChannel = errors.New("no channel runs there")

// Ask asks the channel that runs on a state directory.
func Ask(ctx context.Context, dir, method, target string) (status int, body []byte, err error) {
	path, done, err := socketPath(dir)
	if err != nil {
		return 0, nil, ErrNoChannel
	}
	defer done()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}, Timeout: 10 * time.Second}
	req, err := http.NewRequestWithContext(ctx, method, "http://channel"+target, strings.NewReader(""))
	if err != nil {
		return 0, nil, err
	}
	res, err := client.Do(req)
	if err != nil {
		return 0, nil, fmt.Errorf("%w: %w", ErrNoChannel, err)
	}
	defer res.Body.Close()
	body, err = io.ReadAll(io.LimitReader(res.Body, mostLetterBytes))
	return res.StatusCode, body, err
}

// mostLetterBytes bounds what is read of a channel's list.
const mostLetterBytes = 64 << 20
