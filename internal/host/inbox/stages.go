package inbox

import (
	"context"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/attachments"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/host"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/attach"
)

// stages brings the files of messages to the disk. It implements [attach.Files].
type stages struct {
	attachments.Attachments                                    // of any of the workspaces: they share the folder
	each                    map[string]attachments.Attachments // by workspace
}

func stagesOf(g *host.Ground, all spaces) stages {
	s := stages{each: make(map[string]attachments.Attachments, len(all))}
	for _, m := range all {
		s.each[m.id] = g.Files.Attachments(m.files, true)
	}
	s.Attachments = s.each[all[0].id]
	return s
}

// Stage implements [attach.Files]: of what platforms hold, a message has what that of the
// workspace holds at which it has arrived, whatever its URIs name.
func (s stages) Stage(ctx context.Context, key string, p *a2a.Part, most int64, peer bool) (attach.File, error) {
	at, _ := ctx.Value(arrivedKey{}).(string)
	if of, ok := s.each[at]; ok {
		return of.Stage(ctx, key, p, most, peer)
	}
	return s.Attachments.Stage(ctx, key, p, most, peer)
}

type arrivedKey struct{}

// arrivedAt notes the workspace of a message that is handed in.
func arrivedAt(ctx context.Context, workspace string) context.Context {
	return context.WithValue(ctx, arrivedKey{}, workspace)
}
