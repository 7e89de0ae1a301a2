package peerwords

import (
	"regexp"
	"strconv"
)

// mostOfName bounds a name that stands without quotes: a longer one can be a sentence.
const mostOfName = 40 // bytes

// short is a name that cannot be read as more than one: up to four words, without the end
// of a sentence between them.
var short = regexp.MustCompile(`^` + word + `(?:(?: & | )` + word + `){0,3}\.?$`)

const word = `[\pL\pM\pN]+(?:[._/&+'’-][\pL\pM\pN]+)*`

// Name is a name, a role or the like, of one line, in a text of ours. Others choose them:
// one that is more than a name is quoted, so that it ends where its quotes do.
func Name(text string) string {
	if text == "" || len(text) <= mostOfName && short.MatchString(text) {
		return text
	}
	return strconv.Quote(text)
}
