package platform

import (
	"fmt"
	"strings"
)

// mostIssued is how long a token or secret may be that the platform gives out: with a
// longer one servers refuse the header that it stands in.
const mostIssued = 4 << 10

// usable returns a token or secret as it is shown in a header, "" if the platform has
// given out none. What no header can carry is refused: in the place of one that works it
// would close the workspace for good. The error does not hold it.
func usable(what, value string) (string, error) {
	value = strings.TrimSpace(value)
	if len(value) > mostIssued {
		return "", fmt.Errorf("the platform has given out %s of %d bytes, where %d are the most; the one before stays in use", what, len(value), mostIssued)
	}
	for i := range len(value) {
		if value[i] <= ' ' || value[i] > '~' {
			return "", fmt.Errorf("the platform has given out %s with the byte %#02x in it, which no header can carry; the one before stays in use", what, value[i])
		}
	}
	return value, nil
}
