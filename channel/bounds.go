package channel

import (
	"fmt"
	"unicode/utf8"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// What a message may have. They are the bounds of those that come over HTTP: codex takes
// no longer text.
const (
	mostText  = 1 << 20 // characters
	mostParts = 1_000   // and files
)

// mostQuoted is how many bytes are told of what an agent says at the end of a delegation.
// What could pass for more than its words is taken apart, which may make it longer.
const mostQuoted = mostText / 4

// What waits in an inbox. Beyond the first two nothing is taken on, and the rest waits on
// the platform; the others are of other agents alone, which must not fill the inbox that
// the user's messages come by. Rows that are small count as rows only.
const (
	mostOpen   = 5000      // rows of a workspace
	mostBytes  = 256 << 20 // in them
	peerBytes  = 64 << 20  // of one other agent, but in rows of freeBody or less
	peersBytes = 192 << 20 // of all
)

// Why a row is not given, in the words in which messages over HTTP are refused.
const (
	tooManyParts = "the message has more than 1000 parts; put what belongs together into one"
	tooMuchWaits = "too much that other agents have sent waits here already, so this message was not kept; send it again when your earlier ones are answered, or with less in it"
	tooLarge     = "the message is too large to be fetched from the platform, so it was not read; send it in parts, or put it in a file where the agent works, and name the file"
	tooLong      = "the message has %d characters, and the agent takes at most %d; put the text in a file where the agent works, and name the file"
)

// share is what other agents may have of an inbox.
func (n names) share() store.InboxShare {
	return store.InboxShare{
		Spared: n.canvas(), Free: freeBody, Each: peerBytes, All: peersBytes, Instead: entry{Refused: tooMuchWaits}.encode(),
	}
}

// bounded is an entry as it is kept: of one that is more than a message may be there is
// left why it is refused, so that it costs nothing at the next start.
func (e entry) bounded() entry {
	if n := utf8.RuneCountInString(e.Text); e.Refused == "" && n > mostText {
		e.Refused = fmt.Sprintf(tooLong, n, mostText)
	}
	if len(e.Files) > mostParts { // of a row that an earlier version has accepted
		e.Refused = tooManyParts
	}
	if e.Refused != "" {
		return entry{Refused: e.Refused, Origin: e.Origin}
	}
	return e
}
