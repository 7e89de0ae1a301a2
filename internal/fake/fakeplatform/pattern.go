package fakeplatform

import (
	"regexp"
	"strings"
)

type pattern struct {
	method string
	path   *regexp.Regexp
}

func newPattern(text string) pattern {
	method, path, both := strings.Cut(text, " ")
	if !both {
		method, path = "", text
	}
	return pattern{method, regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(path), `\*`, ".*") + "$")}
}

func (p pattern) fits(method, path string) bool {
	return (p.method == "" || p.method == method) && p.path.MatchString(path)
}
