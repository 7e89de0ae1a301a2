package fakemodel

import (
	"net/http"
	"strconv"
	"time"
)

// UsageLimit refuses the request as the ChatGPT backend does when the allowance of
// five hours is used up, with its end in the headers that codex reads.
func (t *Turn) UsageLimit(left time.Duration) {
	resets := time.Now().Add(left).Unix()
	header := Allowance(100, resets)
	header.Set("X-Codex-Rate-Limit-Reached-Type", "rate_limit_reached")
	t.FailWith(http.StatusTooManyRequests, header, marshal(map[string]any{"error": map[string]any{
		"type": "usage_limit_reached", "message": "The usage limit has been reached",
		"plan_type": "pro", "resets_at": resets, "resets_in_seconds": int(left.Seconds()),
	}}))
}

// Allowance returns the headers that say how much of five hours' allowance is
// used, and when it is given anew.
func Allowance(percent int, resets int64) http.Header {
	header := http.Header{}
	header.Set("X-Codex-Active-Limit", "codex")
	header.Set("X-Codex-Primary-Used-Percent", strconv.Itoa(percent))
	header.Set("X-Codex-Primary-Window-Minutes", "300")
	header.Set("X-Codex-Primary-Reset-At", strconv.FormatInt(resets, 10))
	return header
}
