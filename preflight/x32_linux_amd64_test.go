package preflight

import "testing"

// TestX32 goes through what a kernel and a filter can say.
func TestX32(t *testing.T) {
	for name, c := range map[string]struct {
		mode        string
		takes       bool
		tried       bool
		status      Status
		detail, fix string
	}{
		"taken":        {"0", true, true, Warn, "takes x32 system calls", "syscall.x32=n"},
		"not taken":    {"0", false, true, OK, "takes no x32", ""},
		"filtered":     {"2", true, false, OK, "a seccomp filter holds this process", ""},
		"strict":       {"1", true, false, OK, "a seccomp filter holds this process", ""},
		"nothing said": {"", true, false, OK, "not known", ""},
	} {
		t.Run(name, func(t *testing.T) {
			tried := false
			probe := x32Probe{func() string { return c.mode }, func() bool {
				tried = true
				return c.takes
			}}
			expect(t, probe.check().Do(t.Context()), c.status, c.detail, c.fix)
			if tried != c.tried {
				t.Errorf("the call was made: %t, want %t", tried, c.tried)
			}
		})
	}
}

// TestX32Here asks this machine's kernel, or finds that it must not.
func TestX32Here(t *testing.T) {
	mode := filters()
	if mode == "" {
		t.Skip("the kernel does not say whether a filter holds this process")
	}
	r := X32()[0].Do(t.Context())
	if r.Name != "x32" || r.Status == Fail {
		t.Errorf("got %+v", r)
	}
	t.Logf("mode %s: %s", mode, r.Detail)
}
