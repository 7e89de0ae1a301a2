package tasks

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// mostFetching is how long the files of a message that are fetched by URL may take, all
// together and with the wait for their turn. What is decoded of the message has its room
// until then.
const mostFetching = 2 * time.Minute

var (
	errSlowFiles = refuse(a2a.ErrInvalidParams, "the files of the message that are fetched by URL took more than %v together; "+
		"send some of them with further messages, or in the message itself", mostFetching)
	errNoTurn = refuse(a2a.ErrServerError, "the files of the message had no turn within %v, because others were fetched before them; "+
		"send the message again", mostFetching)
)

// A fetching stages the files of one message.
type fetching struct {
	files Files
	left  time.Duration // for those that are fetched by URL
}

// spend counts the time from now until what it returns is called.
func (f *fetching) spend() (over func()) {
	began := time.Now()
	return func() { f.left -= time.Since(began) }
}

// stage is [Files.Stage], and [errSlowFiles] or [errNoTurn] where the time was too short.
func (f *fetching) stage(ctx context.Context, key string, p *a2a.Part, most int64, peer bool) (File, error) {
	if !isWeb(p) {
		return f.files.Stage(ctx, key, p, most, peer)
	}
	timed, cancel := context.WithTimeoutCause(ctx, f.left, errNoTurn)
	defer cancel()
	defer f.spend()()
	file, err := f.files.Stage(timed, key, p, most, peer)
	switch {
	case err == nil || !errors.Is(context.Cause(timed), errNoTurn):
		return file, err
	case errors.Is(err, ErrNoFile): // it had its turn
		return File{}, errSlowFiles
	}
	return File{}, errNoTurn
}

func isWeb(p *a2a.Part) bool {
	scheme := schemeOf(p)
	return scheme == "http" || scheme == "https"
}

// schemeOf is that of the URL of a part.
func schemeOf(p *a2a.Part) string {
	scheme, _, _ := strings.Cut(strings.ToLower(string(p.URL())), ":")
	return scheme
}
