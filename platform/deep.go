package platform

import "encoding/json"

// mostLevels is how deep an answer may nest, so that what is read of it does. [encoding/json]
// refuses a text of more than 10,000 levels: what a peer has sent as one of 9,999 is one of
// more where it stands in a page, which could not be read for good then. What has a meaning
// here lies less than twenty deep.
const mostLevels = 64

// flatten puts null, and blanks, in the place of each object and list that is nested deeper
// than [mostLevels], in the text itself. What is no valid JSON stays as it is, for the one who
// decodes it to refuse, as does what null is longer than.
func flatten(answer []byte) {
	const null = "null"
	open, begin := 0, 0
	for at, c := range signs(answer) {
		switch c {
		case '[', '{':
			if open++; open == mostLevels+1 {
				begin = at
			}
		case ']', '}':
			if open--; open != mostLevels {
				continue
			}
			if deep := answer[begin : at+1]; len(deep) >= len(null) && json.Valid(deep) {
				for i := copy(deep, null); i < len(deep); i++ {
					deep[i] = ' '
				}
			}
		}
	}
}
