package tasks

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/attach"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/refusal"
)

// mostFetching is how long the files of a message that are fetched by URL may take, all
// together and with the wait for their turn. What is decoded of the message has its room
// until then.
const mostFetching = 2 * time.Minute

// errSlowFiles refuses a message whose files took longer. Whether their servers are slow, or others
// were fetched before them, it may be other the next time.
var errSlowFiles = refusal.New(a2a.ErrServerError, "the files of the message that are fetched by URL were not here within %v, with the wait for files of other messages; "+
	"send it again, or some of the files with further messages", mostFetching)

// A fetching stages the files of one message.
type fetching struct {
	files attach.Files
	left  time.Duration // for those that are fetched by URL
}

// spend counts the time from now until what it returns is called.
func (f *fetching) spend() (over func()) {
	began := time.Now()
	return func() { f.left -= time.Since(began) }
}

// stage is [Files.Stage], and [errSlowFiles] where the time was too short.
func (f *fetching) stage(ctx context.Context, key string, p *a2a.Part, most int64, peer bool) (attach.File, error) {
	if !isWeb(p) {
		return f.files.Stage(ctx, key, p, most, peer)
	}
	timed, cancel := context.WithTimeoutCause(ctx, f.left, errSlowFiles)
	defer cancel()
	defer f.spend()()
	file, err := f.files.Stage(timed, key, p, most, peer)
	if err != nil && errors.Is(context.Cause(timed), errSlowFiles) {
		return attach.File{}, errSlowFiles
	}
	return file, err
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
