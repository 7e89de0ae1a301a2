package logging

import (
	"cmp"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

const mask = "***"

// minSecret is the length below which a value is not looked for: it would
// turn up in innocent text.
const minSecret = 6

// A Redactor replaces secrets in text. The nil Redactor replaces what is
// shaped like a secret and knows none.
type Redactor struct {
	known atomic.Pointer[strings.Replacer] // nil if there are none

	mu      sync.Mutex // guards the fields below
	secrets []string   // for good
	sources []*source
}

// NewRedactor returns a Redactor that knows the given secrets, also in the
// forms they take in JSON and in URLs. Values of five characters or fewer are
// left out.
func NewRedactor(secrets ...string) *Redactor {
	r := &Redactor{}
	r.Add(secrets...)
	return r
}

// Add makes more secrets known, for good. It may be called while texts are looked at. What
// others give out while the process works is for [Redactor.Newest].
func (r *Redactor) Add(secrets ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := len(r.secrets)
	for _, s := range withLines(secrets) {
		if len(s) >= minSecret && !slices.Contains(r.secrets, s) {
			r.secrets = append(r.secrets, s)
		}
	}
	if len(r.secrets) > before {
		r.renewLocked()
	}
}

// renewLocked has what is known be looked for.
func (r *Redactor) renewLocked() {
	all := slices.Clone(r.secrets)
	for _, s := range r.sources {
		all = append(all, s.known...)
	}
	r.known.Store(replacer(all))
}

// leastLine is the length from which a line of a secret is looked for by itself.
const leastLine = 16

// withLines adds the lines of secrets that have several, such as the keys in PEM
// files: programs quote them one by one. Their first and last lines tell nothing.
func withLines(secrets []string) []string {
	all := slices.Clone(secrets)
	for _, s := range secrets {
		if !strings.Contains(s, "\n") {
			continue
		}
		for line := range strings.Lines(s) {
			if line = strings.TrimSpace(line); len(line) >= leastLine && !strings.HasPrefix(line, "-----") {
				all = append(all, line)
			}
		}
	}
	return all
}

// replacer masks secrets.
func replacer(secrets []string) *strings.Replacer {
	var forms []string
	for _, s := range secrets {
		quoted, _ := json.Marshal(s) // a string always encodes
		// As questions have it, which people read.
		plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(quoted))
		forms = append(forms, s, string(quoted[1:len(quoted)-1]), plain[1:len(plain)-1], url.QueryEscape(s), url.PathEscape(s))
	}
	// Of two secrets the longer goes first, lest it be cut where the shorter ends.
	slices.SortFunc(forms, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b))
	})
	forms = slices.Compact(forms)
	pairs := make([]string, 0, 2*len(forms))
	for _, f := range forms {
		pairs = append(pairs, f, mask)
	}
	return strings.NewReplacer(pairs...)
}

// A shape recognizes secrets that are not known. None goes beyond its line. The markers are a cheap test
// that text without such a secret does not pass.
type shape struct {
	markers []string
	pattern *regexp.Regexp
	secret  func(match string) (string, bool)
}

var (
	apiKey      = regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{8,}`)
	webToken    = regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}(\.[A-Za-z0-9_-]*)?`)
	gitHubToken = regexp.MustCompile(`\b(gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})`)
	awsKey      = regexp.MustCompile(`\bAKIA[0-9A-Z]{16}\b`)
	assigned    = regexp.MustCompile(`(?i)(api_key|key|token|secret|password)(["']?[ \t]*[=:][ \t]*["']?)[A-Za-z0-9+/_-]{40,}={0,2}`)
	bearerToken = regexp.MustCompile(`(?i)\bbearer[ \t]+[A-Za-z0-9._~+/=-]{8,}`)
)

func shapes() [6]shape {
	return [...]shape{
		{[]string{"sk-"}, apiKey, always("sk-" + mask)},
		{[]string{"eyJ"}, webToken, always(mask)},
		{[]string{"earer", "EARER"}, bearerToken, bearer},
		{[]string{"gh", "github_pat_"}, gitHubToken, always(mask)},
		{[]string{"AKIA"}, awsKey, always(mask)},
		{[]string{"=", ":"}, assigned, value},
	}
}

func always(to string) func(string) (string, bool) {
	return func(string) (string, bool) { return to, true }
}

// value keeps the name that a long value has been given to.
func value(match string) (string, bool) {
	return assigned.ReplaceAllString(match, "${1}${2}"+mask), true
}

// bearer spares prose such as "bearer authentication": a token has a digit in
// it or is longer than words are.
func bearer(match string) (string, bool) {
	scheme, token := match[:len("bearer")], strings.TrimSpace(match[len("bearer"):])
	return scheme + " " + mask, len(token) >= 20 || strings.ContainsAny(token, "0123456789")
}

// Known returns s without the secrets that are known. What only has the shape of one stays:
// it is for texts of which every word counts, such as a command that a person is to allow.
func (r *Redactor) Known(s string) string {
	if r == nil {
		return s
	}
	if known := r.known.Load(); known != nil {
		s = known.Replace(s)
	}
	return s
}

// String returns s without secrets.
func (r *Redactor) String(s string) string {
	s = r.Known(s)
	for _, sh := range shapes() {
		if !slices.ContainsFunc(sh.markers, func(m string) bool { return strings.Contains(s, m) }) {
			continue
		}
		s = sh.pattern.ReplaceAllStringFunc(s, func(match string) string {
			if to, ok := sh.secret(match); ok {
				return to
			}
			return match
		})
	}
	return s
}
