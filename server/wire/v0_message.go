package wire

import (
	"encoding/base64"
	"encoding/json"
)

// lenientV0 brings the params of a 0.3 message into the form of the
// specification. Callers in the field send parts with type instead of kind or
// with neither, the content of 0.2, and the parts of 1.0. With newID, a message
// may lack its id and its role, too.
func lenientV0(raw json.RawMessage, newID func() string) (json.RawMessage, error) {
	params, err := asObject(raw, "params")
	if err != nil {
		return nil, err
	}
	if !params.has("message") {
		return nil, InvalidParams("params.message is missing")
	}
	msg, err := asObject(params["message"], "params.message")
	if err != nil {
		return nil, err
	}
	if newID != nil {
		v0Fill(msg, newID)
	}
	if err := v0Head(msg); err != nil {
		return nil, err
	}
	if err := v0Parts(msg); err != nil {
		return nil, err
	}
	msg.set("kind", "message")
	params.set("message", msg)
	return json.Marshal(params)
}

// v0Fill adds what 0.3 requires and a workspace does without: its platform adds both
// for some of its callers and not in each of its ages, and an agent that knows the
// address of another one posts to it directly.
func v0Fill(msg object, newID func() string) {
	if msg.text("messageId") == "" && !msg.wrongText("messageId") {
		msg.set("messageId", newID())
	}
	if !msg.has("role") {
		msg.set("role", "user")
	}
}

// v0Head checks what a message has beside its parts.
func v0Head(msg object) error {
	switch {
	case msg.wrongText("messageId"):
		return InvalidParams("params.message.messageId must be a string")
	case msg.text("messageId") == "":
		return InvalidParams("params.message.messageId is missing; give each message an id of its own")
	case !msg.has("role"):
		return InvalidParams("params.message.role is missing; user or agent can stand there")
	}
	switch role := msg.text("role"); role {
	case "user", "agent":
	case "ROLE_USER":
		msg.set("role", "user")
	case "ROLE_AGENT":
		msg.set("role", "agent")
	default:
		return InvalidParams("params.message.role is %s; user or agent can stand there", Quote(role))
	}
	return nil
}

func v0Parts(msg object) error {
	if !msg.has("parts") && msg.has("content") {
		msg["parts"] = msg["content"]
		if msg["content"][0] != '[' {
			msg["parts"] = append(append(json.RawMessage("["), msg["content"]...), ']')
		}
		delete(msg, "content")
	}
	if !msg.has("parts") {
		return InvalidParams("params.message.parts is missing")
	}
	return msg.each("parts", "params.message.parts", v0Part)
}

func v0Part(raw json.RawMessage, where string) (object, error) {
	if raw[0] == '"' {
		return object{"kind": json.RawMessage(`"text"`), "text": raw}, nil
	}
	part, err := asObject(raw, where)
	if err != nil {
		return nil, err
	}
	kind := v0Kind(part)
	part.set("kind", kind)
	if kind != "file" {
		if err := v0Media(part, where); err != nil {
			return nil, err
		}
	}
	switch kind {
	case "text":
		if !part.has("text") || part.wrongText("text") {
			return nil, InvalidParams("%s.text must be a string", where)
		}
	case "data":
		if !part.has("data") || part["data"][0] != '{' {
			return nil, InvalidParams("%s.data must be an object", where)
		}
		if part, err = withoutNull(part, part["data"], where); err != nil {
			return nil, err
		}
		part.set("kind", v0Kind(part))
	case "file":
		if err := v0File(part, where); err != nil {
			return nil, err
		}
	default:
		return nil, InvalidParams("%s is of the unknown kind %s; text, file and data are known", where, Quote(kind))
	}
	return part, nil
}

// v0Media keeps the media type of a part that has no place for it.
func v0Media(part object, where string) error {
	media := part.first("mediaType", "mimeType")
	if media == nil || media[0] != '"' {
		return nil
	}
	meta := object{}
	if part.has("metadata") {
		var err error
		if meta, err = asObject(part["metadata"], where+".metadata"); err != nil {
			return err
		}
	}
	if !meta.has(mediaKey) {
		meta[mediaKey] = media
	}
	part.set("metadata", meta)
	return nil
}

// v0Kind is the kind that a part names, or the one that its members make it.
func v0Kind(part object) string {
	for _, name := range []string{"kind", "type"} {
		if k := part.text(name); k != "" {
			return k
		}
	}
	switch {
	case part.has("text"):
		return "text"
	case part.has("file"), part.has("raw"), part.has("url"):
		return "file"
	case part.has("data"):
		return "data"
	}
	return ""
}

// v0File gathers the file of a part under the names that 0.3 has in this SDK.
func v0File(part object, where string) error {
	file := part // the members of a 1.0 part
	if part.has("file") {
		var err error
		if file, err = asObject(part["file"], where+".file"); err != nil {
			return err
		}
	}
	out := object{}
	out.copyFirst("bytes", file, "bytes", "fileWithBytes", "raw")
	out.copyFirst("uri", file, "uri", "fileWithUri", "url")
	out.copyFirst("name", file, "name", "filename")
	out.copyFirst("mimeType", file, "mimeType", "mediaType")
	if err := oneSource(out, where+".file", "bytes", "uri"); err != nil {
		return err
	}
	for _, name := range []string{"bytes", "uri"} {
		if out.text(name) == "" {
			delete(out, name)
		}
	}
	if out.has("bytes") {
		b, err := anyBase64(out.text("bytes"))
		if err != nil {
			return InvalidParams("%s.file.bytes is not base64", where)
		}
		if len(b) == 0 { // of line breaks alone
			return InvalidParams("%s.file.bytes is empty", where)
		}
		out.set("bytes", b)
	}
	part.set("file", out)
	return nil
}

// anyBase64 decodes the four usual alphabets and paddings. The SDK knows one of
// them, and takes what it does not know for the content itself.
func anyBase64(s string) ([]byte, error) {
	var first error
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		b, err := enc.DecodeString(s)
		if err == nil {
			return b, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}
