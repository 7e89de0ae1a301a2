package binding

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
)

// A parting caller closes the connection with the last byte of the answer.
type parting struct {
	*httptest.ResponseRecorder
	leave context.CancelFunc
	err   error
}

func (p parting) FlushError() error {
	p.leave()
	return p.err
}

// TestWhoLeavesWithTheAnswerHasIt: the user must not be told of it once more.
func TestWhoLeavesWithTheAnswerHasIt(t *testing.T) {
	for name, c := range map[string]struct {
		before bool
		err    error
		want   bool
	}{
		"leaves with it": {want: true}, "has left before": {before: true}, "cannot be written to": {err: errors.New("broken pipe")},
		"cannot be seen": {err: http.ErrNotSupported, want: true},
	} {
		ctx, leave := context.WithCancel(t.Context())
		if c.before {
			leave()
		}
		w := parting{httptest.NewRecorder(), leave, c.err}
		if got := deliver(w, httptest.NewRequestWithContext(ctx, http.MethodPost, "/", nil), []byte("{}")); got != c.want {
			t.Errorf("%s: arrived %v", name, got)
		}
	}
}
