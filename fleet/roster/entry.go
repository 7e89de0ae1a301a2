package roster

import (
	"encoding/hex"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

var (
	errScheme      = errors.New("is no https:// address: write https://host:port")
	errPlain       = errors.New("is not https://: machines are spoken to over TLS only, on this machine, too")
	errCredential  = errors.New("has a user or a password in it: put the machines' token into a file, and name that in RUNTIME_MACHINES_TOKEN_FILE")
	errQuery       = errors.New("has a query: leave it out. The machines' token stands in the file that RUNTIME_MACHINES_TOKEN_FILE names")
	errPath        = errors.New("has a path: leave it out")
	errPort        = errors.New("has no port from 1 to 65535: write https://host:port, and [address]:port for IPv6")
	errHost        = errors.New("has no host that can be dialled: write a name or an address")
	errFingerprint = errors.New("has no fingerprint behind its #: write sha256: and the 64 hex digits that the machine has printed; colons may stand between them")
)

// parseEntry reads one entry of a list. Its errors have nothing of the text in them: [shown] has.
func parseEntry(text string) (Entry, error) {
	if strings.Contains(text, "@") {
		return Entry{}, errCredential
	}
	scheme, rest, ok := strings.Cut(text, "://")
	switch {
	case !ok:
		return Entry{}, errScheme
	case strings.EqualFold(scheme, "http"):
		return Entry{}, errPlain
	case !strings.EqualFold(scheme, "https"):
		return Entry{}, errScheme
	}
	rest, fragment, pinned := strings.Cut(rest, "#")
	if strings.Contains(rest, "?") {
		return Entry{}, errQuery
	}
	if rest = strings.TrimSuffix(rest, "/"); strings.Contains(rest, "/") {
		return Entry{}, errPath
	}
	host, port, err := parseAddress(rest)
	if err != nil {
		return Entry{}, err
	}
	e := Entry{Address: net.JoinHostPort(host, port), ServerName: serverName(host), Name: net.JoinHostPort(host, port)}
	if pinned {
		e.Fingerprint, err = parseFingerprint(fragment)
	}
	return e, err
}

func parseAddress(text string) (host, port string, err error) {
	host, port, err = net.SplitHostPort(text)
	if err != nil || !isPort(port) {
		return "", "", errPort
	}
	host = strings.ToLower(host)
	if ip, err := netip.ParseAddr(host); err == nil {
		if ip.IsUnspecified() || ip.IsMulticast() {
			return "", "", errHost
		}
		return ip.String(), port, nil
	}
	if !isName(host) {
		return "", "", errHost
	}
	return host, port, nil
}

func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0 && text[0] != '0' && text[0] != '+'
}

// isName says whether a host can be a name in DNS. One of digits and dots is an address that is wrong.
func isName(host string) bool {
	host = strings.TrimSuffix(host, ".")
	if host == "" || len(host) > 253 || strings.Trim(host, "0123456789.") == "" {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
	}
	return true
}

// serverName is what a certificate has to be for, of a host.
func serverName(host string) string {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.WithZone("").String()
	}
	return strings.TrimSuffix(host, ".")
}

func parseFingerprint(text string) (string, error) {
	kind, digits, _ := strings.Cut(text, ":")
	digits = strings.ToLower(strings.ReplaceAll(digits, ":", ""))
	if sum, err := hex.DecodeString(digits); err != nil || len(sum) != 32 || !strings.EqualFold(kind, "sha256") {
		return "", errFingerprint
	}
	return digits, nil
}

// shown is what people find an entry by that is wrong. It leaves out what may be a secret, also where blanks or commas have cut
// an address with a password in two.
func shown(text string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || (!strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https")) {
		scheme, rest = "", text
	} else {
		scheme += "://"
	}
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		scheme, rest = scheme+"…@", rest[at+1:]
	}
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	colon := strings.LastIndex(rest, ":")
	switch {
	case colon >= 0 && isPort(rest[colon+1:]) && len(rest) < 300:
		return scheme + rest
	case scheme == "" || len(rest) >= 300:
		return scheme + "…"
	case colon >= 0:
		return scheme + rest[:colon] + ":…"
	}
	return scheme + rest
}
