package roster_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet/roster"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

var pinned = strings.Repeat("0a", 32)

// TestParse: lists that are right.
func TestParse(t *testing.T) {
	for _, test := range []struct {
		spec string
		want []roster.Entry
	}{
		{"https://m1:8443", []roster.Entry{{"m1:8443", "m1", "", "m1:8443"}}},
		{"HTTPS://M1.Example.:8443/", []roster.Entry{{"m1.example.:8443", "m1.example", "", "m1.example.:8443"}}},
		{"https://10.0.0.1:1, \n https://[2001:DB8::1]:65535", []roster.Entry{
			{"10.0.0.1:1", "10.0.0.1", "", "10.0.0.1:1"}, {"[2001:db8::1]:65535", "2001:db8::1", "", "[2001:db8::1]:65535"},
		}},
		{"https://[fe80::1%eth0]:9", []roster.Entry{{"[fe80::1%eth0]:9", "fe80::1", "", "[fe80::1%eth0]:9"}}},
		{"https://m1:8443#sha256:" + pinned, []roster.Entry{{"m1:8443", "m1", pinned, "m1:8443"}}},
		{"https://m1:8443#SHA256:" + strings.Repeat("0A:", 31) + "0A", []roster.Entry{{"m1:8443", "m1", pinned, "m1:8443"}}},
	} {
		source, err := roster.Parse(test.spec)
		if err != nil {
			t.Errorf("%s: %v", test.spec, err)
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			h := listen(t, source)
			if got := h.last(t); !slices.Equal(got.entries, test.want) || got.trouble != "" {
				t.Errorf("%s: %+v", test.spec, got)
			}
		})
	}
}

// TestParseRefuses: what is wrong is named, with what to do.
func TestParseRefuses(t *testing.T) {
	for spec, want := range map[string]string{
		"":                                  "names no machine",
		" , ":                               "names no machine",
		"m1:8443":                           "entry 1, m1:8443: is no https:// address",
		"https://m1:1 http://127.0.0.1:2":   "entry 2, http://127.0.0.1:2: is not https://: machines are spoken to over TLS only, on this machine, too",
		"https://m1":                        "entry 1, https://m1: has no port",
		"https://m1:0":                      "has no port",
		"https://m1:65536":                  "has no port",
		"https://m1:+8":                     "has no port",
		"https://:8443":                     "has no host",
		"https://0.0.0.0:8443":              "has no host",
		"https://1.2.3:8443":                "has no host",
		"https://m_1..x:8443":               "has no host",
		"https://-m:8443":                   "has no host",
		"https://m1:8443/x":                 "has a path",
		"https://m1:8443?token=tok3n":       "RUNTIME_MACHINES_TOKEN_FILE",
		"https://m1:8443#sha256:0a":         "https://m1:8443: has no fingerprint behind its #",
		"https://m1:8443#" + pinned:         "has no fingerprint behind its #",
		"https://m1:8443#":                  "has no fingerprint behind its #",
		"https://m1:8443 #sha256:" + pinned: "entry 2",
		"https://m1:8443,https://M1:8443":   "entry 2, https://M1:8443: stands there twice",
		"https://me:tok3n@m1:8443":          "entry 1, https://…@m1:8443: has a user or a password in it: put the machines' token into a file, and name that in RUNTIME_MACHINES_TOKEN_FILE",
		"https://tok3n@m1:8443":             "RUNTIME_MACHINES_TOKEN_FILE",
		"https://me:tok3n#x/tok3n?@m1":      "RUNTIME_MACHINES_TOKEN_FILE",
		"https://me:tok3n tok3n@m1:8443":    "entry 1, https://me:…: has no port",
		"https://m1:1 tok3n tok3n@m1:8443":  "entry 2, …: is no https:// address",
		"tok3n://m1:8443/":                  "entry 1, …: is no https:// address",
		"https://m1:8443#token=tok3n":       "has no fingerprint",
		"file:machines":                     "no absolute path",
		"file://host/machines":              "no absolute path",
		"dns:machines":                      "dns:name:port",
		"dns:10.0.0.1:8443":                 "write https://address:port",
		"dns:machines:8443#tok3n":           "dns:machines:8443 has no fingerprint",
		"dns:me:tok3n@machines:8443":        "RUNTIME_MACHINES_TOKEN_FILE",
		"dns+srv:_m._tcp.machines":          "SRV records are not followed",
	} {
		_, err := roster.Parse(spec)
		switch {
		case err == nil:
			t.Errorf("%q is taken", spec)
		case !strings.Contains(err.Error(), want):
			t.Errorf("%q: %v, want %q", spec, err, want)
		case strings.Contains(err.Error(), "tok3n"):
			t.Errorf("%q tells a secret: %v", spec, err)
		}
	}
}

// TestParseSources: the two that are followed.
func TestParseSources(t *testing.T) {
	for spec, want := range map[string]string{
		"file:/etc/machines":            "the file /etc/machines",
		"file:///etc/my machines":       "the file /etc/my machines",
		"dns:machines.ns.svc:8443":      "the name machines.ns.svc:8443",
		"dns:m:8443#sha256:" + pinned:   "the name m:8443",
		"https://m1:1,https://m2:1":     "a list of 2 machines",
		"https://m1:1#sha256:" + pinned: "a list of 1 machine",
	} {
		source, err := roster.Parse(spec)
		if err != nil || source.String() != want {
			t.Errorf("%s: %v, %v", spec, source, err)
		}
	}
}

// told is what a source has told at a time.
type told struct {
	entries []roster.Entry
	trouble string
}

func (t told) names() string {
	var all []string
	for _, e := range t.entries {
		all = append(all, e.Address)
	}
	return strings.Join(all, " ")
}

// A hearer has what a source tells.
type hearer struct {
	mu  sync.Mutex
	all []told
}

// listen runs a source in the bubble of a test until that ends.
func listen(t *testing.T, source roster.Source) *hearer {
	ctx, cancel := context.WithCancel(t.Context())
	h, done := &hearer{}, make(chan struct{})
	go func() {
		defer close(done)
		source.Run(ctx, func(entries []roster.Entry, trouble error) {
			text := ""
			if trouble != nil {
				text = trouble.Error()
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			h.all = append(h.all, told{entries, text})
		})
	}()
	t.Cleanup(func() { cancel(); <-done })
	return h
}

// last is what was told last, once nothing more is done at this time.
func (h *hearer) last(t *testing.T) told {
	t.Helper()
	all := h.told()
	if len(all) == 0 {
		t.Fatal("nothing is told")
	}
	return all[len(all)-1]
}

// told is all that was told.
func (h *hearer) told() []told {
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.all)
}
