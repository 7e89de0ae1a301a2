package machine

import (
	"net"
	"os"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/machine/identity"
)

// A Join is by what a runtime joins the machine.
type Join struct {
	URL         string // with the fingerprint behind a #, where the certificate is known by that alone
	Fingerprint string
	TokenFile   string // empty where the token stands in no file
}

// joinOf is that of a machine which listens on addr.
func joinOf(addr string, id *identity.Identity) Join {
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		host = hostname()
	}
	j := Join{URL: "https://" + net.JoinHostPort(host, port), Fingerprint: id.Cert.Fingerprint(), TokenFile: id.TokenFile}
	if id.Cert.Made {
		j.URL += "#" + j.Fingerprint
	}
	return j
}

// Command is what joins the machine, for a shell on it.
func (j Join) Command() string {
	token := "RUNTIME_MACHINES_TOKEN=…"
	if j.TokenFile != "" {
		token = "RUNTIME_MACHINES_TOKEN_FILE=" + quoted(j.TokenFile)
	}
	return "RUNTIME_MACHINES=" + quoted(j.URL) + " " + token + " runtime serve"
}

// quoted is a text as one word of a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func hostname() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "localhost"
	}
	return name
}

// names are those that a certificate is for which the machine makes.
func names(addr string) []string {
	all := []string{hostname(), "localhost", "127.0.0.1", "::1"}
	if host, _, err := net.SplitHostPort(addr); err == nil && host != "" && !net.ParseIP(host).IsLoopback() {
		all = append(all, host)
	}
	return all
}
