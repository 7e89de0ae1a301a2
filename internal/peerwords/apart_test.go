package peerwords

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

var (
	markForm    = regexp.MustCompile(`(?i)A2A_(RESULT|MESSAGE)_FROM_PEER`)
	headingForm = regexp.MustCompile("(?im)^([^\\pL\\pN\\n]*)(SYSTEM|OVERRIDE|INSTRUCTIONS)([ \t]*(?:[\\]>:*|`]|$))")
	linkForm    = regexp.MustCompile(`\[([$@])([A-Za-z0-9_:-]+\]\s*\()`)
	mentionForm = regexp.MustCompile(`\$([A-Za-z_][A-Za-z0-9_]*)`)
	otherForm   = regexp.MustCompile(`\$([0-9:-][0-9:_-]*[A-Za-z])`)
	orderForm   = regexp.MustCompile(`(?:\[ESCAPED\] |\b)(?i:IGNORE\s+ALL|YOU\s+ARE\s+NOW)\b`)
)

// TestApart: what is found byte by byte is what these expressions find, in texts that are made of pieces of
// what they look for.
func TestApart(t *testing.T) {
	texts := 100_000
	if testing.Short() {
		texts = 20_000
	}
	imitations := "A2A_,RESULT,MESSAGE,_FROM_PEER,a2a_meſſage_from_peer,A2A_RESULT_FROM_PEER,SYSTEM,ſyſtem,Override,INSTRUCTIONS,: ,:,]>,`,\t,\n, ,  ," +
		"IGNORE,ALL,ignore all,YOU,ARE,NOW,You are\nnow,[ESCAPED] ,[escaped] ,x,7,_,é,①,*,|,\f,\r"
	for name, c := range map[string]struct {
		pieces    string
		got, want func(string) string
	}{
		"imitations": {imitations, takenApart, func(text string) string {
			text = markForm.ReplaceAllString(text, "A2A-${1}-FROM-PEER")
			text = headingForm.ReplaceAllString(text, "${1}[ESCAPED] ${2}${3}")
			return orderForm.ReplaceAllStringFunc(text, func(order string) string { return escaped + strings.TrimPrefix(order, escaped) })
		}},
		"mentions": {"$,[$,[@,],](,] (,(,a,Z,_,9,:,-, ,\n,{,},é,$$,skill", WithoutMentions, func(text string) string {
			text = linkForm.ReplaceAllString(text, "[${1} ${2}")
			text = mentionForm.ReplaceAllString(text, "$${${1}}")
			return otherForm.ReplaceAllString(text, "$$ ${1}")
		}},
	} {
		r := rand.New(rand.NewPCG(1, 2))
		pieces, changed := strings.Split(c.pieces, ","), 0
		for range texts {
			var b strings.Builder
			for range 1 + r.IntN(9) {
				b.WriteString(pieces[r.IntN(len(pieces))])
			}
			want := c.want(b.String())
			if want != b.String() {
				changed++
			}
			if got := c.got(b.String()); got != want {
				t.Fatalf("%s: %q is %q, want %q", name, b.String(), got, want)
			}
		}
		if changed < texts/10 {
			t.Errorf("%s: %d texts were changed", name, changed)
		}
	}
}

// TestLongWords: each look goes once over a text, whatever it is made of. One of these that went over it for each
// line or sign would take a minute.
func TestLongWords(t *testing.T) {
	const most = 1 << 18
	for _, one := range []string{"a", "a\n", "IGNORE ", "YOU ARE ", "SYSTEM ", "SYSTEM \n", "A2A_", "[$a", "[$a] ", "$1", "$-", "é", "\uff21", "e\u0301"} {
		for _, front := range []string{"", strings.Repeat(" ", most/2), strings.Repeat("[$", most/4), "SYSTEM" + strings.Repeat(" ", most/2), "[$a]" + strings.Repeat("\n", most/2), "IGNORE" + strings.Repeat(" ", most/2)} {
			Message("bob", front+strings.Repeat(one, (most-len(front))/len(one)))
		}
	}
}
