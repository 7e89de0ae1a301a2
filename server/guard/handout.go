package guard

import (
	"context"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/server/doors"
	"github.com/Molecule-AI/molecule-codex-runtime/server/respond"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// How much of the files that an answer hands out is in it as bytes; what is beyond is
// named by a URL.
const (
	MostInline    = 2 << 20
	mostInlineAll = 8 << 20
	nothingInline = 0 // of lists
)

// Kept has the copies of the files that tasks hand out.
type Kept interface {
	// Open opens the copy that a token names; an error says that there is none, or none
	// any more.
	Open(ctx context.Context, task, token string) (*os.File, fs.FileInfo, error)
}

// A handout is a [Handler] whose answers have the files that tasks hand out in the form
// for their caller: the platform of a workspace finds them in it, and all others get
// their bytes or a URL of ours.
type handout struct {
	Handler
	kept     Kept
	platform bool // there is one
}

// ShowFiles returns next, with the files that its tasks hand out in the form for their
// caller.
func ShowFiles(next Handler, kept Kept, platform bool) Handler {
	return &handout{Handler: next, kept: kept, platform: platform}
}

// shown is how one answer shows files.
type shown struct {
	ctx      context.Context
	kept     Kept
	baseURL  string
	platform bool // the answer is the platform's
	accepts  []string
	left     int64 // bytes that may still be in the answer
}

// to returns what shows files to the caller of ctx.
func (h *handout) to(ctx context.Context, accepts []string, left int64) fileMap {
	c := callOf(ctx)
	s := &shown{
		ctx: ctx, kept: h.kept, baseURL: c.BaseURL, accepts: accepts, left: left,
		// It speaks 0.3 and shows no token of ours.
		platform: h.platform && c.V0 && !doors.ShownToken(ctx),
	}
	return fileMap{s.part}
}

// part is a part that names a kept file, as the caller gets it.
func (s *shown) part(p *a2a.Part) *a2a.Part {
	ref, _ := tasks.KeptOf(p)
	out := tasks.Unkept(p)
	if s.platform {
		out.Metadata = nil
		return out
	}
	size, _ := p.Metadata[tasks.MetaSize].(float64)
	if s.mayInline(int64(size)) && (len(s.accepts) == 0 || tasks.Takes(s.accepts, p.MediaType)) {
		if content, ok := s.read(ref, int64(size)); ok {
			s.left -= int64(len(content))
			out.Content = a2a.Raw(content)
			return out
		}
	}
	out.Content = a2a.URL(s.baseURL + respond.FilesPath + ref)
	return out
}

// mayInline reports whether a file may be in the answer as bytes. An empty one is named by
// a URL: some of the bindings leave out bytes that are none, and nothing says then that it
// is a file.
func (s *shown) mayInline(size int64) bool { return size > 0 && size <= min(MostInline, s.left) }

// read returns the content of a copy; false if it is not to be had.
func (s *shown) read(ref string, size int64) ([]byte, bool) {
	task, rest, _ := strings.Cut(ref, "/")
	token, _, _ := strings.Cut(rest, "/")
	file, info, err := s.kept.Open(s.ctx, task, token)
	if err != nil {
		return nil, false
	}
	defer file.Close()
	content := make([]byte, size)
	if _, err := io.ReadFull(file, content); err != nil || info.Size() != size {
		return nil, false
	}
	return content, true
}
