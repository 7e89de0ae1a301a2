package platform

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
)

// TestAdvise has a refused token, a wrong address and no network each say what to do, and what passes
// by itself nothing.
func TestAdvise(t *testing.T) {
	_, away := (&net.Dialer{}).DialContext(t.Context(), "tcp", "127.0.0.1:1")
	if away == nil {
		t.Skip("something listens on port 1")
	}
	for want, errs := range map[string][]error{
		"Rotate":       {&Error{Status: 401}, fmt.Errorf("register: %w", &Error{Status: 403})},
		"WORKSPACE_ID": {&Error{Status: 404}},
		"reaches it":   {fmt.Errorf("register: %w", away), context.DeadlineExceeded},
		"":             {&Error{Status: 429}, &Error{Status: 502}, errors.New("the disk is full"), ErrUselessToken},
	} {
		for _, err := range errs {
			if got := Advise(err); !errors.Is(got, err) || want == "" && got.Error() != err.Error() || !strings.Contains(got.Error(), want) {
				t.Errorf("%v: %v, want %q in it", err, got, want)
			}
		}
	}
}
