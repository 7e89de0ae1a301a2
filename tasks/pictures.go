package tasks

import (
	"errors"
	"fmt"
	"io"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/picture"
)

// mostPixels is how large a picture is shown to the model. codex unfolds one before it
// makes it smaller: 0.169.0 was seen to take 9 to 14 MiB for a million pixels, also for
// those of a file of some kilobytes, for each turn that begins with one. Cameras of
// telephones make 50 million.
const mostPixels = 50_500_000

// errTooMany says that a picture is not shown for its size.
var errTooMany = fmt.Errorf("it has more than %d million pixels, so look at a smaller copy of it", mostPixels/1_000_000)

// errUnread says that a picture is not shown because nothing is known of it.
var errUnread = errors.New("it could not be read")

// isPicture reports whether models take files of this type as pictures.
func isPicture(media string) bool {
	switch media {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// showable returns why codex is not to be given a picture, or nil.
func showable(content io.ReaderAt) error {
	pixels, err := picture.Pixels(content)
	switch {
	case err != nil && !errors.Is(err, picture.ErrUnreadable):
		return errUnread
	case err != nil:
		return err
	case pixels > mostPixels:
		return errTooMany
	}
	return nil
}

// unshown says of a file that it is there and not seen.
func unshown(why error) string { return "; not shown to you as a picture: " + why.Error() }
