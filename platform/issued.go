package platform

import (
	"fmt"
	"strings"
)

// leastIssued is how short one may be. Platforms give out 43 characters, of 256 random
// bits; with a few of them the routes that it opens are open to all who guess.
const leastIssued = 16

// mostIssued is how long a token or secret may be that the platform gives out: with a
// longer one servers refuse the header that it stands in.
const mostIssued = 4 << 10

// usable returns a token or secret as it is shown in a header, "" if the platform has
// given out none. What no header can carry, or can be guessed, is refused: in the place of
// one that works it would close the workspace for good, or open it to all. The error does not hold it.
func usable(what, value string) (string, error) {
	value = strings.TrimSpace(value)
	if len(value) > mostIssued {
		return "", fmt.Errorf("the platform has given out %s of %d bytes, where %d are the most; the one before stays in use", what, len(value), mostIssued)
	}
	if value != "" && len(value) < leastIssued {
		return "", fmt.Errorf("the platform has given out %s of %d bytes, where %d are the least; the one before stays in use", what, len(value), leastIssued)
	}
	for i := range len(value) {
		if value[i] <= ' ' || value[i] > '~' {
			return "", fmt.Errorf("the platform has given out %s with the byte %#02x in it, which no header can carry; the one before stays in use", what, value[i])
		}
	}
	return value, nil
}
