package guard

import (
	"context"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/server/bounds"
	"github.com/Molecule-AI/molecule-codex-runtime/server/doors"
	"github.com/Molecule-AI/molecule-codex-runtime/server/respond"
	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/attach"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/feed"
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
	ref, _ := attach.KeptOf(p)
	out := attach.Unkept(p)
	if s.platform {
		out.Metadata = nil
		return out
	}
	size, _ := p.Metadata[attach.MetaSize].(float64)
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

// A fileMap changes the parts of artifacts that hand out a file. What callers have sent is
// none of that, whatever its metadata say.
type fileMap struct{ show func(*a2a.Part) *a2a.Part }

func (f fileMap) artifact(a *a2a.Artifact) *a2a.Artifact {
	return wire.PartMap{Concerns: isKept, Change: f.show}.Artifact(a)
}

func (f fileMap) task(t *a2a.Task) *a2a.Task {
	if !hasFiles(t) {
		return t
	}
	out := *t
	out.Artifacts = slices.Clone(t.Artifacts)
	for i, a := range out.Artifacts {
		out.Artifacts[i] = f.artifact(a)
	}
	return &out
}

func (f fileMap) event(event a2a.Event) a2a.Event {
	switch e := event.(type) {
	case *a2a.Task:
		return f.task(e)
	case *a2a.TaskArtifactUpdateEvent:
		out := *e
		out.Artifact = f.artifact(e.Artifact)
		return &out
	}
	return event
}

// hasFiles reports whether a file is handed out in an event.
func hasFiles(event a2a.Event) bool {
	switch e := event.(type) {
	case *a2a.Task:
		return e != nil && slices.ContainsFunc(e.Artifacts, handsOut)
	case *a2a.TaskArtifactUpdateEvent:
		return handsOut(e.Artifact)
	}
	return false
}

func isKept(p *a2a.Part) bool {
	_, ok := attach.KeptOf(p)
	return ok
}

func handsOut(a *a2a.Artifact) bool { return a != nil && slices.ContainsFunc(a.Parts, isKept) }

func (h *handout) GetTask(ctx context.Context, req *a2a.GetTaskRequest) (*a2a.Task, error) {
	task, err := h.Handler.GetTask(ctx, req)
	return h.task(ctx, task), err
}

func (h *handout) CancelTask(ctx context.Context, req *a2a.CancelTaskRequest) (*a2a.Task, error) {
	task, err := h.Handler.CancelTask(ctx, req)
	if err != nil || task == nil {
		return task, err
	}
	if err := begin(ctx, task); err != nil {
		return nil, err
	}
	return h.task(ctx, task), nil
}

// begin waits for a turn to answer with an event that hands out files: from then on they are
// in memory for this one reader.
func begin(ctx context.Context, event a2a.Event) error {
	if !hasFiles(event) {
		return nil
	}
	return bounds.AnsweringOf(ctx).Begin(ctx)
}

func (h *handout) task(ctx context.Context, task *a2a.Task) *a2a.Task {
	if task == nil {
		return nil
	}
	return h.to(ctx, nil, mostInlineAll).task(task)
}

// ListTasks has no bytes of files in it: a page is of many tasks.
func (h *handout) ListTasks(ctx context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	res, err := h.Handler.ListTasks(ctx, req)
	if err != nil || res == nil || res.Tasks == nil {
		return res, err
	}
	out := *res
	out.Tasks = slices.Clone(res.Tasks)
	show := h.to(ctx, nil, nothingInline)
	for i, t := range out.Tasks {
		out.Tasks[i] = show.task(t)
	}
	return &out, nil
}

func (h *handout) SendMessage(ctx context.Context, req *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	modes := tasks.AcceptedModes(req)
	result, err := h.Handler.SendMessage(ctx, req)
	if task, ok := result.(*a2a.Task); ok && task != nil {
		if err := begin(ctx, task); err != nil {
			return nil, err
		}
		return h.to(ctx, modes, mostInlineAll).task(task), err
	}
	return result, err
}

func (h *handout) Stream(ctx context.Context, req *a2a.SendMessageRequest, after string) Events {
	return h.events(ctx, tasks.AcceptedModes(req), h.Handler.Stream(ctx, req, after))
}

func (h *handout) Resume(ctx context.Context, req *a2a.SubscribeToTaskRequest, after string) Events {
	return h.events(ctx, nil, h.Handler.Resume(ctx, req, after))
}

// events shows the files of a stream.
func (h *handout) events(ctx context.Context, accepts []string, events Events) Events {
	return func(yield func(*feed.Event, error) bool) {
		for e, err := range events {
			if e != nil && hasFiles(e.Event) {
				if err := begin(ctx, e.Event); err != nil {
					yield(nil, err)
					return
				}
				e = e.With(h.to(ctx, accepts, mostInlineAll).event(e.Event))
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// ShowPushed returns what gives events the form for receivers of push notifications:
// files are named by their URL. Without a public URL that is one relative to the
// agent's.
func ShowPushed(publicURL string) func(a2a.Event) a2a.Event {
	base := strings.TrimSuffix(publicURL, "/")
	return fileMap{func(p *a2a.Part) *a2a.Part {
		ref, _ := attach.KeptOf(p)
		out := attach.Unkept(p)
		out.Content = a2a.URL(base + respond.FilesPath + ref)
		return out
	}}.event
}
