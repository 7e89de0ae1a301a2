package wire

import (
	"encoding/json"
	"maps"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// mediaKey is where the media type of a text or data part stands in 0.3, which
// has a place of its own for it only in files: in the metadata of the part.
const mediaKey = "mediaType"

// mediaToV0 returns an event whose text and data parts say their media type in
// their metadata, and whose files all have a content that readers of 0.3 see.
func mediaToV0(event a2a.Event) a2a.Event {
	return PartMap{func(p *a2a.Part) bool { return saysMedia(p) || isEmptyFile(p) }, partToV0}.event(event)
}

// emptyFile is a file with nothing in it. SDKs of 0.3 take one without bytes for no file, and
// then read nothing of the task, or the list, that it is in.
const emptyFile = a2a.URL("data:,")

func isEmptyFile(p *a2a.Part) bool {
	if p == nil {
		return false
	}
	raw, ok := p.Content.(a2a.Raw)
	return ok && len(raw) == 0
}

func partToV0(p *a2a.Part) *a2a.Part {
	out := *p
	if isEmptyFile(p) {
		out.Content = emptyFile
		return &out
	}
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

// compatKey marks data that the SDKs have wrapped for 0.3, which knows objects only.
const compatKey = "data_part_compat"

// withoutNull is a part of 0.3 with an object of data, or what stands for it where null is
// wrapped in that: what null is in 1.0, too (v1Part).
func withoutNull(part object, raw json.RawMessage, where string) (object, error) {
	data, err := asObject(raw, where+".data")
	if err != nil || !part.has("metadata") {
		return part, err
	}
	meta, err := asObject(part["metadata"], where+".metadata")
	if err != nil || string(meta[compatKey]) != "true" || data.has("value") {
		return part, err
	}
	delete(meta, compatKey)
	meta.set(mediaKey, JSON)
	out := object{}
	out.set("text", "null")
	out.set("metadata", meta)
	return out, nil
}
