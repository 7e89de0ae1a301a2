package server

import (
	"maps"
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// mediaKey is where the media type of a text or data part stands in 0.3, which
// has a place of its own for it only in files: in the metadata of the part.
const mediaKey = "mediaType"

// mediaToV0 returns an event whose text and data parts say their media type in
// their metadata. What needs no change is shared with the original.
func mediaToV0(event a2a.Event) a2a.Event {
	switch e := event.(type) {
	case *a2a.Task:
		if e == nil {
			return event
		}
		out := *e
		out.Artifacts, out.History = each(e.Artifacts, artifactToV0), each(e.History, messageToV0)
		out.Status.Message = messageToV0(e.Status.Message)
		return &out
	case *a2a.Message:
		return messageToV0(e)
	case *a2a.TaskStatusUpdateEvent:
		out := *e
		out.Status.Message = messageToV0(e.Status.Message)
		return &out
	case *a2a.TaskArtifactUpdateEvent:
		artifact := artifactToV0(e.Artifact)
		if artifact == e.Artifact {
			return e // as nearly all of them
		}
		out := *e
		out.Artifact = artifact
		return &out
	}
	return event
}

func messageToV0(m *a2a.Message) *a2a.Message {
	if m == nil || !slices.ContainsFunc(m.Parts, saysMedia) {
		return m
	}
	out := *m
	out.Parts = each(m.Parts, partToV0)
	return &out
}

func artifactToV0(a *a2a.Artifact) *a2a.Artifact {
	if a == nil || !slices.ContainsFunc(a.Parts, saysMedia) {
		return a
	}
	out := *a
	out.Parts = each(a.Parts, partToV0)
	return &out
}

func partToV0(p *a2a.Part) *a2a.Part {
	if !saysMedia(p) {
		return p
	}
	out := *p
	out.Metadata = maps.Clone(p.Metadata)
	out.SetMeta(mediaKey, p.MediaType)
	return &out
}

// mediaFromV0 gives the parts of a message the media types that their metadata names.
func mediaFromV0(m *a2a.Message) {
	if m == nil {
		return
	}
	for _, p := range m.Parts {
		if media, ok := p.Metadata[mediaKey].(string); ok && p.MediaType == "" && mediaLess(p) {
			p.MediaType = media
		}
	}
}

// saysMedia reports whether a part has a media type that 0.3 would lose.
func saysMedia(p *a2a.Part) bool { return p != nil && p.MediaType != "" && mediaLess(p) }

// mediaLess reports whether 0.3 has no place for the media type of a part.
func mediaLess(p *a2a.Part) bool {
	switch p.Content.(type) {
	case a2a.Text, a2a.Data:
		return true
	}
	return false
}

// each maps a slice.
func each[S ~[]E, E any](in S, f func(E) E) S {
	out := make(S, 0, len(in))
	for _, v := range in {
		out = append(out, f(v))
	}
	return out
}
