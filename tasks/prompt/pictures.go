package prompt

import (
	"errors"
	"fmt"
	"io"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/picture"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/attach"
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

// errChanged says that a picture is not the one that has come with the message.
var errChanged = errors.New("its file is not what it was when the message came")

// The types of pictures: that codex reads by its path, and that it is sent.
const (
	localImage  = "localImage"
	inlineImage = "image"
)

// How many pictures of a message codex is given, and how many bytes they have together,
// each counted as often as the message names it: codex reads and encodes it each time, and
// held some ten times of these bytes when it did. In base64 the bytes have room in one
// request to the model, of 64 MiB at most.
const (
	mostPictures     = 20
	mostPictureBytes = 40 << 20
)

// What says that a picture is not shown for the others of its message.
var (
	errMorePictures = fmt.Errorf("at most %d pictures of a message are shown", mostPictures)
	errMoreBytes    = fmt.Errorf("the pictures of a message that are shown have at most %d MiB together", mostPictureBytes>>20)
)

// A gallery counts the pictures of a message that codex is given. The zero value is empty.
type gallery struct {
	pictures int
	bytes    int64
	looks    map[string]look // by path: one that is named again is not opened again
	unseen   bool            // none is opened, and each counts as one that can be shown
}

// A look is what was seen of a picture: how many bytes it has, or why it cannot be shown.
type look struct {
	size int64
	why  error
}

// room is how many bytes a further picture may have.
func (g *gallery) room() (bytes int64, err error) {
	if g.pictures >= mostPictures {
		return 0, errMorePictures
	}
	return mostPictureBytes - g.bytes, nil
}

// add counts a picture, if there is room for it.
func (g *gallery) add(size int64) error {
	room, err := g.room()
	if err == nil && size > room {
		err = errMoreBytes
	}
	if err == nil {
		g.pictures, g.bytes = g.pictures+1, g.bytes+size
	}
	return err
}

// show counts the picture at a path, or returns why codex is not to be given it.
func (g *gallery) show(files attach.Files, path string) error {
	if _, err := g.room(); err != nil {
		return err
	}
	if g.unseen {
		return g.add(0)
	}
	seen, again := g.looks[path]
	if !again {
		seen.size, seen.why = sizeOf(files, path)
		if g.looks == nil {
			g.looks = map[string]look{}
		}
		g.looks[path] = seen
	}
	if seen.why != nil {
		return seen.why
	}
	return g.add(seen.size)
}

// sizeOf is how many bytes a picture has that can be shown, or why it cannot.
func sizeOf(files attach.Files, path string) (int64, error) {
	content, err := files.Open(path)
	if err != nil {
		return 0, errUnread
	}
	defer content.Close()
	return content.Size(), showable(content)
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

// notShown is what stands for a picture of the message itself.
func notShown(p *a2a.Part, why error) agent.Input {
	return agent.Text("Attached file: " + label(p, len(p.Raw())) + unshown(why))
}
