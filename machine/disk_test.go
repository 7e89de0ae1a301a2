package machine

import (
	"strings"
	"testing"
)

// TestDisks: a machine takes no turns whose disk is full or cannot be written, and says what to do.
func TestDisks(t *testing.T) {
	for want, f := range map[string]facts{
		"":                     {disk: true, freeDisk: 1 << 30},
		"has 3 MiB left":       {disk: true, freeDisk: 3 << 20},
		"mount it for writing": {disk: true, freeDisk: 1 << 30, readOnly: true},
	} {
		if got := f.lacks(); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%+v: %q", f, got)
		}
	}
	if why := (facts{}).lacks(); why != "" {
		t.Errorf("an unknown disk: %q", why)
	}
	if f := look(t.TempDir()); !f.disk || f.freeDisk == 0 {
		t.Errorf("the disk here: %+v", f)
	}
}
