package preflight

import (
	"strings"
	"testing"
)

func TestTailIsTheEnd(t *testing.T) {
	var kept tail
	for range 1000 {
		_, _ = kept.Write([]byte(strings.Repeat("x", 1000)))
	}
	if _, _ = kept.Write([]byte("the end")); len(kept.text) > 2*mostKept || !strings.HasSuffix(kept.String(), "xthe end") {
		t.Errorf("%d bytes are kept", len(kept.text))
	}
	if cap(kept.text) > 4*mostKept {
		t.Errorf("they take %d", cap(kept.text))
	}
}
