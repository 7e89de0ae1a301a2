package netguard_test

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/netguard"
)

// TestThisMachine: its addresses lead to it, public as they may be, for as long as it has
// them.
func TestThisMachine(t *testing.T) {
	own := []net.Addr{
		&net.IPNet{IP: net.IPv4(9, 9, 9, 9), Mask: net.CIDRMask(24, 32)}, &net.IPNet{IP: net.ParseIP("2606:4700::7"), Mask: net.CIDRMask(64, 128)},
	}
	var failed error
	g := netguard.New(netip.MustParsePrefix("2606:4700::8/128"))
	g.Local(func() ([]net.Addr, error) { return own, failed })
	check := func(address string, ok bool) {
		t.Helper()
		if err := g.Address(netip.MustParseAddr(address)); (err == nil) != ok || err != nil && !errors.Is(err, netguard.ErrForbidden) {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{"9.9.9.9", "::ffff:9.9.9.9", "64:ff9b::909:909", "2606:4700::7", "2606:4700::7%eth0"} {
		check(address, false)
	}
	check("9.9.9.10", true)
	check("2606:4700::9", true)
	if _, err := g.URL("http://9.9.9.9:80/"); !errors.Is(err, netguard.ErrForbidden) {
		t.Errorf("by a URL: %v", err)
	}
	own = append(own, &net.IPNet{IP: net.ParseIP("2606:4700::8"), Mask: net.CIDRMask(128, 128)}, &net.IPNet{IP: net.IPv4(9, 9, 9, 10), Mask: net.CIDRMask(32, 32)})
	check("9.9.9.10", false)
	check("2606:4700::8", true) // it is allowed
	failed = errors.New("no netlink here")
	check("8.8.8.8", false)
}

const inside = "NETGUARD_INSIDE"

// TestPublicAddressOfOurs dials a public address that this machine has, in a network of its
// own, which takes a root that may make one.
func TestPublicAddressOfOurs(t *testing.T) {
	if os.Getenv(inside) != "" {
		dialOurs(t)
		return
	}
	const script = "ip link set lo up && ip addr add 9.9.9.9/32 dev lo"
	if out, err := exec.CommandContext(t.Context(), "unshare", "--net", "sh", "-c", script).CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED: no network of its own can be made here, for which a root, unshare and ip are needed: %v: %s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), "unshare", "--net", "sh", "-c", script+` && exec "$0" -test.run '^TestPublicAddressOfOurs$' -test.v`, os.Args[0])
	cmd.Env = append(os.Environ(), inside+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func dialOurs(t *testing.T) {
	visits := 0
	ts := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visits++ }))
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = ts.Listener.Close()
	ts.Listener = ln
	ts.Start()
	defer ts.Close()
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	get := func(allowed ...netip.Prefix) error {
		client := netguard.New(allowed...).Client(5 * time.Second)
		defer client.CloseIdleConnections()
		res, err := client.Get("http://9.9.9.9:" + port + "/")
		if err != nil {
			return err
		}
		return res.Body.Close()
	}
	if err := get(); !errors.Is(err, netguard.ErrForbidden) || visits != 0 {
		t.Errorf("%v, %d visits", err, visits)
	}
	if err := get(netip.MustParsePrefix("9.9.9.9/32")); err != nil || visits != 1 {
		t.Errorf("allowed: %v, %d visits", err, visits)
	}
}

// TestNothingIsUnpacked: what comes packed is as large as it came.
func TestNothingIsUnpacked(t *testing.T) {
	const packed = "\x1f\x8b this would be packed"
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Accept-Encoding"); got != "" {
			t.Errorf("%q was asked for", got)
		}
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write([]byte(packed))
	}))
	defer ts.Close()
	client := netguard.New(netip.MustParsePrefix("127.0.0.0/8")).Client(5 * time.Second)
	defer client.CloseIdleConnections()
	res, err := client.Get(ts.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got := make([]byte, 2*len(packed))
	if n, _ := res.Body.Read(got); string(got[:n]) != packed || res.Uncompressed {
		t.Errorf("%q", got[:n])
	}
}
