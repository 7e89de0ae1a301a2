package tasks

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
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

// errChanged says that a picture is not the one that has come with the message.
var errChanged = errors.New("its file is not what it was when the message came")

// localImage is the type of a picture that codex reads by its path.
const localImage = "localImage"

// lender is what gives codex the pictures of a message, nil if it has none. They stand
// where commands write, and may have been replaced since they were looked at, by something
// that codex would unfold, or a pipe that it would wait at. So codex is given copies, and
// what is copied is looked at again; a picture that the message has brought is the one
// that was brought, or not shown.
func (e *Engine) lender(in *incoming) executor.Lender {
	if !slices.ContainsFunc(in.input, func(i appserver.UserInput) bool { return i.Type == localImage }) {
		return nil
	}
	brought := in.brought // and no more of the message
	return func(input []appserver.UserInput) ([]appserver.UserInput, func()) {
		lent, loans, n := slices.Clone(input), []func(){}, 0
		for i, shown := range input {
			if shown.Type != localImage {
				continue
			}
			n++
			at, giveBack, why := e.lend(shown.Path, brought[shown.Path])
			if why != nil { // without its name, which may be the words of another agent
				lent[i] = appserver.Text(fmt.Sprintf("Picture %d of this message is not shown to you: %v.", n, why))
				continue
			}
			lent[i].Path, loans = at, append(loans, giveBack)
		}
		return lent, func() {
			for _, giveBack := range loans {
				giveBack()
			}
		}
	}
}

// lend has a picture copied for codex. Digest is that of the picture that was brought, ""
// if it is one that stood there.
func (e *Engine) lend(path, digest string) (at string, giveBack func(), why error) {
	at, giveBack, err := e.cfg.Files.Lend(path, func(content io.ReaderAt, found string) error {
		if why = showable(content); digest != "" && digest != found {
			why = errChanged
		}
		return why
	})
	if err == nil {
		return at, giveBack, nil
	}
	e.log.Warn("a picture is not shown to the model", "path", path, "err", err)
	return "", nil, cmp.Or(why, errUnread)
}

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
