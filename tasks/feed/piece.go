package feed

import (
	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
)

// A Piece is an artifact, or a chunk of one: a text, with parts behind it or in its place.
type Piece struct {
	ID    a2a.ArtifactID
	Name  string
	Media string // of the text; empty means plain
	Phase string
	Text  string
	Parts a2a.ContentParts
}

// Artifact returns the piece as A2A has it.
func (p Piece) Artifact() *a2a.Artifact {
	out := &a2a.Artifact{ID: p.ID, Name: p.Name}
	if p.Text != "" || len(p.Parts) == 0 {
		part := a2a.NewTextPart(p.Text)
		part.MediaType = p.Media
		out.Parts = a2a.ContentParts{part}
	}
	out.Parts = append(out.Parts, p.Parts...)
	if p.Phase != "" {
		out.Metadata = map[string]any{keys.Phase: p.Phase}
	}
	return out
}

// An Artifact is what a feed shows of one, under its lock. The zero value shows nothing.
type Artifact struct {
	piece Piece
	shown bool
	made  *a2a.Artifact // of the piece, or nil since that has changed
}

// Restored is an artifact that was shown before.
func Restored(p Piece) *Artifact { return &Artifact{piece: p, shown: true} }
