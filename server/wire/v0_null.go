package wire

import "encoding/json"

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
