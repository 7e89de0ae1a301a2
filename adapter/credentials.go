package adapter

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/provider"
)

var (
	// secretName matches the names of variables whose values are secrets.
	secretName = regexp.MustCompile(`(?i)(^|_)(TOKENS?|KEYS?|SECRETS?|PASSWORD|PASSWD|PASSPHRASE|PAT|CREDENTIALS?|HEADERS|BEARER)$`)
	// secretFor matches those that go on with what the secret is for, as GITHUB_TOKEN_CI. So
	// do names of much else (TOKEN_URL, KEY_ID), so the value has to look like a secret.
	secretFor = regexp.MustCompile(`(?i)(^|_)(TOKEN|KEY|SECRET|PASSWORD|BEARER)(_[A-Z0-9]+)+$`)
	aboutOne  = regexp.MustCompile(`(?i)_(ALGORITHM|DIR|ENDPOINT|FILE|HOST|ID|NAME|PATH|TYPE|URI|URL|USER)$`)
	// placeOrWords matches values that are a path, a URL, or several words.
	placeOrWords = regexp.MustCompile(`^[./~]|://|\s`)
	// address matches those of connection strings, in which a secret may stand by itself.
	address = regexp.MustCompile(`(?i)(^|_)(DSN|CONNECTION_STRING)$`)
)

// leastGuessed is the length below which a value is taken for something else than a
// secret where only the variable's name speaks for one, and leastLikely where that does not
// end with what it is.
const leastGuessed, leastLikely = 8, 16

// isSecret reports whether a variable holds a secret, going by its name, and by its value
// where the name is not clear.
func isSecret(name, value string) bool {
	switch {
	case value == "":
		return false
	case secretName.MatchString(name), provider.IsKey(name):
		return true
	case address.MatchString(name):
		return strings.ContainsAny(value, "@=")
	}
	return secretFor.MatchString(name) && !aboutOne.MatchString(name) && len(value) >= leastLikely &&
		strings.ContainsAny(value, "0123456789") && !placeOrWords.MatchString(value)
}

// CredentialNames returns the variables of environ that hold a secret, going by their
// names.
func CredentialNames(environ []string) []string {
	var names []string
	for _, kv := range environ {
		if name, value, _ := strings.Cut(kv, "="); isSecret(name, value) {
			names = append(names, name)
		}
	}
	return names
}

// Credentials returns what in environ is secret: the values of variables that are called
// so, the keys of providers (own are the workspace's), what is in a login, and the passwords of URLs. It is what no
// log, no error and no memory may show, be it the runtime's, the platform's or the agent's.
func Credentials(environ []string, own []provider.Entry) []string {
	var found []string
	keys := provider.Keys(own)
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		value = strings.TrimSpace(value)
		switch {
		case slices.Contains(loginVariables(), name):
			login, _ := LookAtLogin([]byte(value)) // one that is none is not used
			found = append(found, login.Secrets()...)
		case slices.Contains(keys, name):
			found = append(found, value)
		case isSecret(name, value) && len(value) >= leastGuessed && !isFile(value):
			found = append(append(append(found, value), headers(name, value)...), passwordOf(value)...)
		default:
			found = append(found, passwordOf(value)...)
		}
	}
	return found
}

// isFile reports whether a value says only where the secret is.
func isFile(value string) bool {
	_, err := os.Stat(value)
	return filepath.IsAbs(value) && err == nil
}

// headers takes the values out of a list such as authorization=Bearer%20abc,x=y.
func headers(name, list string) []string {
	if !strings.HasSuffix(strings.ToUpper(name), "HEADERS") {
		return nil
	}
	var found []string
	for pair := range strings.SplitSeq(list, ",") {
		_, value, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(value); err == nil {
			value = plain
		}
		if words := strings.Fields(value); len(words) > 0 && len(words[len(words)-1]) >= leastGuessed {
			found = append(found, words[len(words)-1])
		}
	}
	return found
}

// passwordOf returns the password in a URL, such as that of a proxy or a database.
func passwordOf(value string) []string {
	if !strings.Contains(value, "://") || !strings.Contains(value, "@") {
		return nil
	}
	u, err := url.Parse(value)
	if err != nil {
		return nil
	}
	if password, ok := u.User.Password(); ok && len(password) >= leastGuessed {
		return []string{password}
	}
	return nil
}
