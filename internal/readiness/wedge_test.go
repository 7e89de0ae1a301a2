package readiness

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestWedge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w Wedge
		for _, step := range []struct {
			fails bool
			after time.Duration
			want  bool
		}{{true, 0, false}, {true, 2 * time.Second, false}, {true, 2 * time.Second, true}, {false, 0, false}, {true, time.Hour, false}} {
			time.Sleep(step.after)
			if got := w.childFails(step.fails); got != step.want {
				t.Errorf("%+v: %t", step, got)
			}
		}
	})
}
