package roster

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"
)

const (
	askEvery = 5 * time.Second // on average
	asksFor  = 4 * time.Second // at most
	// vanished is how many answers in a row have to say that there is no such name until that is believed: a name server
	// that has just started may not know it yet.
	vanished = 3
)

// A Resolver looks names up, as a [net.Resolver] does.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// dns is the addresses of a name.
type dns struct {
	host, port, fingerprint string
	resolver                Resolver
}

func parseDNS(text string, resolver Resolver) (*dns, error) {
	if strings.Contains(text, "@") {
		return nil, errCredential
	}
	address, fragment, pinned := strings.Cut(text, "#")
	host, port, err := parseAddress(address)
	if err != nil {
		return nil, errors.New("the name of machines is not to be followed: write dns:name:port")
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return nil, errors.New("dns: follows a name, and this is an address: write https://address:port")
	}
	d := &dns{host: host, port: port, resolver: resolver}
	if pinned {
		if d.fingerprint, err = parseFingerprint(fragment); err != nil {
			return nil, fmt.Errorf("dns:%s:%s %w", host, port, err)
		}
	}
	return d, nil
}

func (d *dns) String() string { return "the name " + net.JoinHostPort(d.host, d.port) }

func (d *dns) Run(ctx context.Context, tell func([]Entry, error)) {
	v := voice{tell: tell}
	var last []Entry
	missing := 0
	for {
		addresses, err := d.ask(ctx)
		if ctx.Err() != nil {
			return
		}
		switch {
		case isNotFound(err):
			if missing++; missing >= vanished {
				last = nil
			}
			v.say(last, d.missing(last))
		case err != nil:
			missing = 0
			v.say(last, fmt.Errorf("the addresses of %s cannot be looked up, so the list stays as it was: %w", d.host, err))
		default:
			missing, last = 0, d.entries(addresses)
			v.say(last, nil)
		}
		if !pause(ctx, askEvery*4/5+rand.N(askEvery*2/5)) { //nolint:gosec // runtimes that start together do not ask together
			return
		}
	}
}

func (d *dns) ask(ctx context.Context) ([]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, asksFor)
	defer cancel()
	addresses, err := d.resolver.LookupNetIP(ctx, "ip", d.host)
	if err == nil && len(addresses) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: d.host, IsNotFound: true}
	}
	return addresses, err
}

// isNotFound tells the word that a name has no addresses from the lack of an answer.
func isNotFound(err error) bool {
	e, ok := errors.AsType[*net.DNSError](err)
	return ok && e.IsNotFound
}

func (d *dns) missing(last []Entry) error {
	if len(last) > 0 {
		return fmt.Errorf("the name %s has no addresses any more; the list stays as it was until that is sure", d.host)
	}
	return fmt.Errorf("the name %s has no addresses: see whether machines are up and ready, and whether the name is right", d.host)
}

func (d *dns) entries(addresses []netip.Addr) (all []Entry) {
	addresses = slices.Clone(addresses)
	for i, a := range addresses {
		addresses[i] = a.Unmap()
	}
	slices.SortFunc(addresses, netip.Addr.Compare)
	for _, a := range slices.Compact(addresses) {
		all = append(all, Entry{
			Address: net.JoinHostPort(a.String(), d.port), ServerName: serverName(d.host), Fingerprint: d.fingerprint,
			Name: fmt.Sprintf("%s (%s)", net.JoinHostPort(d.host, d.port), a),
		})
	}
	return all
}
