package forward

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

const (
	// leastKey is the length below which a key is not looked for, and leastInAnswers that
	// below which it is looked for in refusals only: what local endpoints are given for a
	// key ("ollama", "sk-no-key-required") is a word that a model may well say.
	leastKey       = 6
	leastInAnswers = 20
	// leastBase64 is the length from which a piece of base64 is taken for the key's.
	leastBase64 = 12
)

// A secret is a key as an endpoint may quote it: as it is, in JSON, in a URL, and within
// base64. It is covered by signs in place, so that what it stands in keeps its length. A
// secret is immutable; that of no key covers nothing.
type secret struct {
	forms   [][]byte  // the longer first
	longest int       // of the forms
	within  [256]bool // the bytes that stand in a form
	first   [256]bool // those that begin one
	sign    byte      // stands in no form
	telling bool      // it is long enough to be told from the words of a model
}

func newSecret(key string) *secret {
	s := &secret{telling: len(key) >= leastInAnswers, sign: '*'}
	for _, form := range forms(key) {
		s.forms = append(s.forms, []byte(form))
		s.longest = max(s.longest, len(form))
		s.first[form[0]] = true
		for _, b := range []byte(form) {
			s.within[b] = true
		}
	}
	// What has been covered is no part of a form then, whatever follows it.
	for sign := byte('!'); s.within[s.sign] && sign <= '~'; sign++ {
		if sign != '"' && sign != '\\' {
			s.sign = sign
		}
	}
	return s
}

// forms returns what a key may look like in an answer.
func forms(key string) []string {
	key = strings.TrimPrefix(key, "Bearer ")
	if len(key) < leastKey {
		return nil
	}
	marshaled, _ := json.Marshal(key) // a string always encodes
	quoted := string(marshaled[1 : len(marshaled)-1])
	var plain bytes.Buffer
	encoder := json.NewEncoder(&plain)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(key)
	unescaped := strings.TrimSuffix(strings.TrimSpace(plain.String()), `"`)[1:]
	all := []string{key}
	for _, escaped := range []string{quoted, unescaped} {
		all = append(all, escaped, strings.ReplaceAll(escaped, "/", `\/`))
	}
	for _, escaped := range []string{url.QueryEscape(key), url.PathEscape(key)} {
		all = append(all, escaped, lowerEscapes(escaped))
	}
	all = append(all, base64Forms(key)...)
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	return slices.Compact(all)
}

// lowerEscapes writes the digits of percent-encoding as some do.
func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i:], bytes.ToLower(b[i:i+3]))
			i += 2
		}
	}
	return string(b)
}

// base64Forms returns what all base64 of a text with the key in it has in common, for
// each of the three places where the key may begin in a group of bytes.
func base64Forms(key string) []string {
	var all []string
	for before := range 3 {
		text := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), key...))
		// A sign is six bits. Those that share a byte with a neighbor of the key are left out.
		form := text[(before*8+5)/6 : (before+len(key))*8/6]
		if len(form) < leastBase64 {
			continue
		}
		all = append(all, form, strings.NewReplacer("+", "-", "/", "_").Replace(form))
	}
	return all
}

// cover covers the secret wherever it stands in p as a whole.
func (s *secret) cover(p []byte) {
	for _, form := range s.forms {
		for rest := p; ; {
			i := bytes.Index(rest, form)
			if i < 0 {
				break
			}
			for j := range form {
				rest[i+j] = s.sign
			}
			rest = rest[i+len(form):]
		}
	}
}

// coverPiece covers the secret in a piece of a text, and returns how much of the piece is
// no beginning of a form that what comes next may complete.
func (s *secret) coverPiece(p []byte) (settled int) {
	s.cover(p)
	start := len(p)
	for start > 0 && s.within[p[start-1]] && len(p)-start < s.longest-1 {
		start--
	}
	for ; start < len(p); start++ {
		rest := p[start:]
		if s.first[rest[0]] && slices.ContainsFunc(s.forms, func(form []byte) bool { return bytes.HasPrefix(form, rest) }) {
			break
		}
	}
	return start
}

// text returns a text without the secret.
func (s *secret) text(text string) string {
	p := []byte(text)
	s.cover(p)
	return string(p)
}

// header takes the secret out of the values of a header or trailer.
func (s *secret) header(h http.Header) {
	for _, values := range h {
		for i, value := range values {
			values[i] = s.text(value)
		}
	}
}

// error takes the secret out of an error that quotes an answer. Others stay what they are.
func (s *secret) error(err error) error {
	if text := err.Error(); s.text(text) != text {
		return errors.New(s.text(text))
	}
	return err
}

// message takes the secret out of a message that is there as a whole.
func (s *secret) message(p []byte) {
	if s.isLookedFor(p) {
		s.cover(p)
	}
}

// isLookedFor reports whether the secret is looked for in a message that begins so. One that is no error of
// the endpoint's holds the words of a model.
func (s *secret) isLookedFor(begins []byte) bool {
	return len(s.forms) > 0 && (s.telling || read(begins).status >= http.StatusBadRequest)
}
